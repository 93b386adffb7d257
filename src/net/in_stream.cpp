#include "net/in_stream.h"

#include "base/check.h"
#include "base/checksum.h"

#include <algorithm>
#include <cstring>

namespace cohort::net {
namespace {

constexpr std::size_t kBuffer = std::size_t{64} << 10;
constexpr std::size_t kDirect = std::size_t{256} << 10;  // at a time

}  // namespace

InStream::InStream(Guard guard) : guard_(guard), buffer_(kBuffer) {}

Result<std::size_t> InStream::read(Stream& from, MessageSink& sink, std::size_t cap) {
  std::size_t all = 0;
  if (is_held_) COHORT_RETURN_IF_ERROR(digest(sink));
  while (all < cap && !is_held_) {
    COHORT_ASSIGN_OR_RETURN(const std::size_t got, fill(from, sink));
    if (got == 0) break;
    all += got;
    COHORT_RETURN_IF_ERROR(digest(sink));
  }
  return all;
}

// Straight into the payload that is coming, and what is behind it into the buffer.
Result<std::size_t> InStream::fill(Stream& from, MessageSink& sink) {
  if (used_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + used_, in_buffer());
    filled_ -= used_;
    used_ = 0;
  }
  std::array<iovec, 2> parts{};
  std::size_t num_parts = 0;
  std::span<std::byte> direct;
  bool reaches_the_end = true;
  if (state_ == State::kPayload && in_buffer() == 0) {
    const std::uint64_t left = header_.size_bytes - num_payload_;
    const std::span<std::byte> room = sink.place(header_);
    COHORT_CHECK(room.empty() || room.size() == header_.size_bytes);
    if (room.empty()) unwanted_.resize(kBuffer);
    direct = room.empty() ? std::span(unwanted_).first(std::min<std::uint64_t>(left, kBuffer))
                          : room.subspan(num_payload_, std::min<std::uint64_t>(left, kDirect));
    parts[num_parts++] = {direct.data(), direct.size()};
    reaches_the_end = direct.size() == left;
  }
  if (reaches_the_end) parts[num_parts++] = {buffer_.data() + filled_, buffer_.size() - filled_};
  COHORT_ASSIGN_OR_RETURN(const std::size_t got, from.read(std::span(parts).first(num_parts)));
  const std::size_t in_payload = std::min(got, direct.size());
  count_payload(direct.first(in_payload));
  filled_ += got - in_payload;
  return got;
}

Status InStream::digest(MessageSink& sink) {
  while (true) {
    switch (state_) {
      case State::kHeader:
        if (in_buffer() < comm::kFrameHeaderBytes) return {};
        COHORT_RETURN_IF_ERROR(begin_message(sink));
        if (is_held_) return {};
        break;
      case State::kPayload:
        if (num_payload_ < header_.size_bytes) {
          if (in_buffer() == 0) return {};
          take_payload(sink);
        }
        if (num_payload_ == header_.size_bytes) state_ = State::kTrailer;
        break;
      case State::kTrailer:
        if (in_buffer() < kTrailerBytes) return {};
        COHORT_RETURN_IF_ERROR(end_message(sink));
        break;
    }
  }
}

std::span<const std::byte> InStream::take(std::size_t size_bytes) {
  const std::span<const std::byte> bytes = std::span(buffer_).subspan(used_, size_bytes);
  used_ += size_bytes;
  num_taken_ += size_bytes;
  return bytes;
}

Status InStream::begin_message(MessageSink& sink) {
  const std::span<const std::byte> bytes = std::span(buffer_).subspan(used_, comm::kFrameHeaderBytes);
  COHORT_ASSIGN_OR_RETURN(header_, comm::decode_frame_header(bytes));
  COHORT_ASSIGN_OR_RETURN(const bool is_admitted, sink.admit(header_));
  is_held_ = !is_admitted;
  if (is_held_) return {};  // it is read once more
  take(comm::kFrameHeaderBytes);
  num_payload_ = 0;
  checksum_ = 0;
  if (header_.size_bytes > 0) {
    state_ = State::kPayload;
    return {};
  }
  (void)sink.place(header_);
  sink.arrived(header_);
  return {};
}

void InStream::take_payload(MessageSink& sink) {
  const std::size_t count = std::min<std::uint64_t>(in_buffer(), header_.size_bytes - num_payload_);
  const std::span<std::byte> room = sink.place(header_);
  COHORT_CHECK(room.empty() || room.size() == header_.size_bytes);
  const std::span<const std::byte> bytes = std::span(buffer_).subspan(used_, count);
  if (!room.empty()) std::memcpy(room.data() + num_payload_, bytes.data(), count);
  used_ += count;
  count_payload(bytes);
}

void InStream::count_payload(std::span<const std::byte> bytes) {
  if (guard_ == Guard::kChecksum) checksum_ = crc32c(bytes, checksum_);
  num_payload_ += bytes.size();
  num_taken_ += bytes.size();
}

Status InStream::end_message(MessageSink& sink) {
  const std::span<const std::byte> trailer = take(kTrailerBytes);
  std::uint32_t checksum = 0;
  std::uint32_t state = 0;
  std::memcpy(&checksum, trailer.data(), sizeof checksum);
  std::memcpy(&state, trailer.data() + 4, sizeof state);
  if (state > kTakenBack) return Error(ErrorCode::kCorrupt, "a message ends as none does");
  if (guard_ == Guard::kChecksum && state != kTakenBack && checksum != checksum_) {
    return Error(ErrorCode::kCorrupt, "the checksum of a message is wrong");
  }
  state_ = State::kHeader;
  state == kTakenBack ? sink.taken_back(header_) : sink.arrived(header_);
  return {};
}

}  // namespace cohort::net
