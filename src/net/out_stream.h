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

/// Whether the bytes of payloads are guarded by a checksum; where they are encrypted they are guarded anyway.
enum class Guard : std::uint8_t { kChecksum, kNone };

// A message as it stands in a stream: header (comm/transport/frame.h), payload, and, if there is a payload,
// a trailer of 8 bytes: CRC-32C of the payload, or 0 where it is not guarded; 0, or 1 if the sender has taken
// the message back half-way and the rest is zeros.
inline constexpr std::size_t kTrailerBytes = 8;
inline constexpr std::uint32_t kTakenBack = 1;

/// Messages on their way to one member: those that wait, those under way, and those that the other side has
/// not said to have. All of them can be sent once more from any byte that it does not have, over a new
/// connection. Pure: it neither knows sockets nor waits.
///
/// Threads: one at a time.
/// Lifetime: a payload is read until its message is called back or taken back.
/// Cost: payloads up to kCopied are copied and called back at once, as long as less than kCopiedCap is on its
/// way; longer ones are not copied, and called back when the other side has them.
class OutStream {
 public:
  using Sent = comm::Transport::Sent;
  static constexpr std::size_t kCopied = std::size_t{16} << 10;
  static constexpr std::size_t kCopiedCap = std::size_t{4} << 20;

  explicit OutStream(Guard guard) : guard_(guard) {}

  /// `sent` is null for messages of the transport itself.
  void add(const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent);
  /// Payloads of this group up to this generation are not read any more, and nobody is called back for them.
  /// What was copied is sent all the same; of a stripe at least its header, without a payload: others wait
  /// for it.
  void take_back(std::uint32_t group, std::uint32_t generation);
  /// The same for all of them.
  void take_back_all();

  bool has_more() const { return next_ < end_; }
  /// Bytes that are not written yet.
  std::uint64_t num_left() const { return end_ - next_; }
  /// Somebody waits for a message that may not have arrived.
  bool has_payload() const;
  /// The next bytes to write, at most `cap` of them, as parts. They stay where they are until the next call
  /// of another method.
  std::span<const iovec> gather(std::size_t cap);
  void wrote(std::size_t size_bytes) { next_ += size_bytes; }

  /// The other side has the first `position` bytes of all: whom that concerns is ready to be called back. May
  /// be old news: over a new connection receipts come again. kCorrupt if so many were never written.
  Status has_taken(std::uint64_t position);
  /// A new connection: what is written next begins at this byte. kCorrupt if that cannot be.
  Status go_on_from(std::uint64_t position);

  /// Those to be called back, in order.
  std::vector<Sent> take_ready();
  /// All that are under way or wait, whose messages nobody counts on any more; payloads are not read again.
  std::vector<Sent> abandon();

 private:
  struct Message {
    std::uint64_t first = 0;  // where it begins in the stream
    comm::FrameHeader header{};
    std::array<std::byte, comm::kFrameHeaderBytes> header_bytes{};
    std::span<const std::byte> payload{};
    std::vector<std::byte> copy{};
    std::array<std::byte, kTrailerBytes> trailer{};
    std::size_t num_summed = 0;  // bytes of the payload in the checksum
    std::uint32_t checksum = 0;
    bool is_taken_back = false;
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
  void take_back_those(Which is_one);
  void make_ready(const comm::FrameHeader& header, Sent sent);
  std::size_t add_parts(Message& message, std::uint64_t from, std::size_t cap);
  void add_payload(Message& message, std::size_t from, std::size_t count);
  void finish_trailer(Message& message);
  static void empty(Message& message);

  const Guard guard_;
  std::deque<Message> messages_;  // the first is the oldest that the other side may not have
  std::uint64_t taken_ = 0;       // what it has
  std::uint64_t next_ = 0;        // written next
  std::uint64_t most_written_ = 0;
  std::uint64_t end_ = 0;  // behind the last message
  std::vector<iovec> parts_;
  std::vector<Ready> ready_;
};

}  // namespace cohort::net
