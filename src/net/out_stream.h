#pragma once

#include "comm/transport/transport.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <sys/uio.h>
#include <vector>

namespace cohort::net {

/// Whether payloads carry a checksum. TLS has its own protection against corruption.
enum class Guard : std::uint8_t { kChecksum, kNone };

// A message in a stream is a header (comm/transport/frame.h), the payload, and, unless the payload is empty,
// a trailer of 8 bytes: the checksum (CRC-32C of the payload; 0 with Guard::kNone), then the state (0; 1 if
// the sender cancelled the message half-way and filled the rest of the payload with zeros).
inline constexpr std::size_t kTrailerBytes = 8;
inline constexpr std::uint32_t kStateWithdrawn = 1;

/// The messages to one member that are queued, in flight, or not acknowledged yet. After a break the stream
/// retransmits from the first byte that the peer lacks. Pure: no sockets and no waiting.
///
/// Threads: one at a time.
/// Lifetime: a payload must stay valid until the callback of its message runs, or the message is cancelled.
/// Cost: a payload of up to kCopied bytes is copied and its callback is ready at once, unless kCopiedCap
/// bytes are in flight. A longer payload is not copied; its callback waits for the acknowledgement.
class OutStream {
 public:
  using Sent = comm::Transport::Sent;
  static constexpr std::size_t kCopied = std::size_t{16} << 10;
  static constexpr std::size_t kCopiedCap = std::size_t{4} << 20;

  explicit OutStream(Guard guard) : guard_(guard) {}

  /// Queues a message. `sent` is null for messages of the transport itself.
  void add(const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent);
  /// Cancels the messages of this group up to this generation: their payloads are not read any more and their
  /// callbacks do not run. Copied payloads are sent all the same. A cancelled stripe is sent without payload,
  /// as the receiver waits for one stripe on each rail.
  void withdraw(std::uint32_t group, std::uint32_t generation);
  /// Cancels all messages.
  void withdraw_all();

  bool has_more() const { return next_ < end_; }
  /// Bytes that are not written yet.
  std::uint64_t num_left() const { return end_ - next_; }
  /// Unacknowledged messages other than those of the transport itself exist.
  bool has_payload() const;
  /// The next bytes to write, at most `cap`. Valid until the next call of any other method.
  std::span<const iovec> gather(std::size_t cap);
  void wrote(std::size_t size_bytes) { next_ += size_bytes; }

  /// The peer acknowledges the first `position` bytes: callbacks of the messages in them become ready. A
  /// lower position than before is ignored, as old acknowledgements may come again on a new connection.
  /// kCorrupt if fewer bytes were ever written.
  Status has_taken(std::uint64_t position);
  /// Starts a new connection: the next write begins at this byte. kCorrupt unless it lies between the last
  /// acknowledgement and the last byte written.
  Status go_on_from(std::uint64_t position);

  /// The callbacks that are ready to run, in the order of messages.
  std::vector<Sent> take_ready();
  /// Gives up all messages and returns their callbacks; payloads are not read any more.
  std::vector<Sent> abandon();

 private:
  struct Message {
    std::uint64_t first = 0;  // position of the header in the stream
    comm::FrameHeader header{};
    std::array<std::byte, comm::kFrameHeaderBytes> header_bytes{};
    std::span<const std::byte> payload{};
    std::vector<std::byte> copy{};
    std::array<std::byte, kTrailerBytes> trailer{};
    std::size_t num_summed = 0;  // payload bytes that `checksum` covers
    std::uint32_t checksum = 0;
    bool is_withdrawn = false;
    Sent sent{};

    std::uint64_t size() const {
      return header_bytes.size() + header.size_bytes + (header.size_bytes > 0 ? kTrailerBytes : 0);
    }
  };

  struct Ready {
    std::uint32_t group = 0;
    std::uint32_t generation = 0;
    Sent sent{};
  };

  template <class Which>
  void withdraw_those(Which is_one);
  void make_ready(const comm::FrameHeader& header, Sent sent);
  std::size_t add_parts(Message& message, std::uint64_t from, std::size_t cap);
  void add_payload(Message& message, std::size_t from, std::size_t count);
  void finish_trailer(Message& message);
  static void empty(Message& message);

  const Guard guard_;
  // Positions count bytes since the beginning of the session: taken_ ≤ next_ ≤ most_written_ ≤ end_.
  std::deque<Message> messages_;    // not acknowledged, in order
  std::uint64_t taken_ = 0;         // acknowledged by the peer
  std::uint64_t next_ = 0;          // to be written next
  std::uint64_t most_written_ = 0;  // the highest position that gather() has offered for writing
  std::uint64_t end_ = 0;           // behind the last message
  std::vector<iovec> parts_;
  std::vector<Ready> ready_;
};

}  // namespace cohort::net
