#pragma once

#include "comm/transport/transport.h"
#include "net/out_stream.h"
#include "net/stream.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cohort::net {

/// Where an InStream leaves messages.
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  /// May this message begin? False: not yet, and nothing is read until it may. kCorrupt if it never may.
  virtual Result<bool> admit(const comm::FrameHeader& header) {
    (void)header;
    return true;
  }
  /// As FrameSink::place().
  virtual std::span<std::byte> place(const comm::FrameHeader& header) = 0;
  virtual void arrived(const comm::FrameHeader& header) = 0;
  virtual void taken_back(const comm::FrameHeader& header) = 0;
  /// As FrameSink::heard().
  virtual void heard() {}
};

/// What comes from one member, taken apart into messages, over one connection after the other: it knows how
/// many bytes it has, so that the next connection can go on there.
///
/// Threads: one at a time.
/// Failure: read() says what the stream says, and kCorrupt for what is no message: both end the connection.
/// Cost: payloads are read to where the sink wants them; of those that are short, and of the first bytes of
/// others, up to 64 KiB are copied once more.
class InStream {
 public:
  explicit InStream(Guard guard);

  /// Reads at most about `cap` bytes. How many it has read; 0: nothing is there, or the sink does not admit
  /// what is.
  Result<std::size_t> read(Stream& from, MessageSink& sink, std::size_t cap);
  /// Bytes that it has, of all that were ever sent; the next connection begins there.
  std::uint64_t num_taken() const { return num_taken_; }
  /// Bytes of the payload that has begun that are to come yet.
  std::uint64_t num_left() const { return state_ == State::kPayload ? header_.size_bytes - num_payload_ : 0; }
  /// A message waits until the sink admits it.
  bool is_held() const { return is_held_; }
  /// What a connection left that is over is not used: it comes once more.
  void start_over() {
    filled_ = used_ = 0;
    is_held_ = false;
  }

 private:
  enum class State : std::uint8_t { kHeader, kPayload, kTrailer };

  Status digest(MessageSink& sink);
  std::size_t in_buffer() const { return filled_ - used_; }
  std::span<const std::byte> take(std::size_t size_bytes);
  Status begin_message(MessageSink& sink);
  void take_payload(MessageSink& sink);
  void count_payload(std::span<const std::byte> bytes);
  Status end_message(MessageSink& sink);
  Result<std::size_t> fill(Stream& from, MessageSink& sink);

  const Guard guard_;
  State state_ = State::kHeader;
  bool is_held_ = false;
  comm::FrameHeader header_{};
  std::uint64_t num_payload_ = 0;  // bytes of it that are there
  std::uint32_t checksum_ = 0;
  std::uint64_t num_taken_ = 0;
  std::vector<std::byte> buffer_;    // what came together with something else
  std::vector<std::byte> unwanted_;  // where payloads go that nobody wants
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace cohort::net
