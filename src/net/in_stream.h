#pragma once

#include "comm/transport/transport.h"
#include "net/out_stream.h"
#include "net/stream.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cohort::net {

/// Receiver of the messages that an InStream reads: a concept, as every byte passes here and a virtual call
/// would be one more indirection.
///
/// - admit: whether the payload of this message may be read now. False: not yet, and the stream reads nothing
///   more until the sink admits the message. kCorrupt: never.
/// - buffer_for: the buffer for the payload, see FrameSink::buffer_for().
/// - arrived: the payload is complete.
/// - withdrawn: the sender has cancelled the message.
template <class Sink>
concept MessageSink = requires(Sink& sink, const comm::FrameHeader& header) {
  { sink.admit(header) } -> std::same_as<Result<bool>>;
  { sink.buffer_for(header) } -> std::same_as<std::span<std::byte>>;
  sink.arrived(header);
  sink.withdrawn(header);
};

/// Splits the bytes from one member into messages, over one connection after the other. Counts the bytes
/// received, so that the next connection can resume there.
///
/// Threads: one at a time.
/// Failure: read() returns the error of the stream, or kCorrupt for an invalid frame; either ends the
/// connection.
/// Cost: payloads are received into the sink's buffer. Up to 64 KiB of each, a short payload or the beginning
/// of a long one, are copied once.
class InStream {
 public:
  explicit InStream(Guard guard);

  /// Reads about `cap` bytes at most and returns how many it has read: 0 if no bytes have come, or the sink
  /// does not admit the next message.
  template <MessageSink Sink>
  Result<std::size_t> read(Stream& from, Sink& sink, std::size_t cap);
  /// Bytes received since the beginning of the session: the next connection resumes there.
  std::uint64_t num_taken() const { return num_taken_; }
  /// Bytes of the current payload that are still to come.
  std::uint64_t num_left() const { return state_ == State::kPayload ? header_.size_bytes - num_payload_ : 0; }
  /// The next message waits until the sink admits it.
  bool is_held() const { return is_held_; }
  /// Drops bytes that a broken connection left in the buffer: the peer sends them again.
  void start_over() {
    filled_ = used_ = 0;
    is_held_ = false;
  }

 private:
  enum class State : std::uint8_t { kHeader, kPayload, kTrailer };

  enum class Ending : std::uint8_t { kArrived, kWithdrawn };

  template <MessageSink Sink>
  Status digest(Sink& sink);
  template <MessageSink Sink>
  Status digest_header(Sink& sink);
  std::size_t in_buffer() const { return filled_ - used_; }
  bool reads_payload() const { return state_ == State::kPayload && in_buffer() == 0; }
  std::span<const std::byte> take(std::size_t size_bytes);
  Status peek_header();
  void begin_message();
  void take_payload(std::span<std::byte> room);
  void count_payload(std::span<const std::byte> bytes);
  Result<Ending> end_message();
  std::span<std::byte> rest_of(std::span<std::byte> room);
  Result<std::size_t> fill(Stream& from, std::span<std::byte> payload);

  const Guard guard_;
  State state_ = State::kHeader;
  bool is_held_ = false;
  comm::FrameHeader header_{};
  std::uint64_t num_payload_ = 0;  // bytes of the payload received
  std::uint32_t checksum_ = 0;
  std::uint64_t num_taken_ = 0;
  std::vector<std::byte> buffer_;    // headers, trailers and short payloads
  std::vector<std::byte> unwanted_;  // receives payloads that the sink drops
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
};

template <MessageSink Sink>
Result<std::size_t> InStream::read(Stream& from, Sink& sink, std::size_t cap) {
  std::size_t all = 0;
  if (is_held_) COHORT_RETURN_IF_ERROR(digest(sink));
  while (all < cap && !is_held_) {
    const std::span<std::byte> payload =
        reads_payload() ? rest_of(sink.buffer_for(header_)) : std::span<std::byte>();
    COHORT_ASSIGN_OR_RETURN(const std::size_t got, fill(from, payload));
    if (got == 0) break;
    all += got;
    COHORT_RETURN_IF_ERROR(digest(sink));
  }
  return all;
}

template <MessageSink Sink>
Status InStream::digest(Sink& sink) {
  while (true) {
    switch (state_) {
      case State::kHeader:
        if (in_buffer() < comm::kFrameHeaderBytes) return {};
        COHORT_RETURN_IF_ERROR(digest_header(sink));
        if (is_held_) return {};
        break;
      case State::kPayload:
        if (num_payload_ < header_.size_bytes) {
          if (in_buffer() == 0) return {};
          take_payload(sink.buffer_for(header_));
        }
        if (num_payload_ == header_.size_bytes) state_ = State::kTrailer;
        break;
      case State::kTrailer:
        if (in_buffer() < kTrailerBytes) return {};
        COHORT_ASSIGN_OR_RETURN(const Ending ending, end_message());
        ending == Ending::kWithdrawn ? sink.withdrawn(header_) : sink.arrived(header_);
        break;
    }
  }
}

template <MessageSink Sink>
Status InStream::digest_header(Sink& sink) {
  COHORT_RETURN_IF_ERROR(peek_header());
  COHORT_ASSIGN_OR_RETURN(const bool is_admitted, sink.admit(header_));
  is_held_ = !is_admitted;
  if (is_held_) return {};  // the header stays in the buffer and is decoded again
  begin_message();
  if (header_.size_bytes == 0) {
    (void)sink.buffer_for(header_);
    sink.arrived(header_);
  }
  return {};
}

}  // namespace cohort::net
