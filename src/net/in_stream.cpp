#include "net/in_stream.h"

#include "base/check.h"
#include "base/checksum.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace cohort::net {
namespace {

constexpr std::size_t kBuffer = std::size_t{64} << 10;
constexpr std::size_t kDirect = std::size_t{256} << 10;  // at a time

}  // namespace

InStream::InStream(Guard guard) : guard_(guard), buffer_(kBuffer) {}

// The part of the payload's buffer that the next read fills.
std::span<std::byte> InStream::rest_of(std::span<std::byte> room) {
  COHORT_CHECK(room.empty() || room.size() == header_.size_bytes);
  const std::uint64_t left = header_.size_bytes - num_payload_;
  if (!room.empty()) return room.subspan(num_payload_, std::min<std::uint64_t>(left, kDirect));
  unwanted_.resize(kBuffer);
  return std::span(unwanted_).first(std::min<std::uint64_t>(left, kBuffer));
}

// One read: the current payload goes straight into the sink's buffer, the bytes behind it into `buffer_`.
Result<std::size_t> InStream::fill(Stream& from, std::span<std::byte> payload) {
  if (used_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + used_, in_buffer());
    filled_ -= used_;
    used_ = 0;
  }
  std::array<iovec, 2> parts{};
  std::size_t num_parts = 0;
  if (!payload.empty()) parts[num_parts++] = {payload.data(), payload.size()};
  const bool reaches_the_end = payload.empty() || payload.size() == header_.size_bytes - num_payload_;
  if (reaches_the_end) parts[num_parts++] = {buffer_.data() + filled_, buffer_.size() - filled_};
  COHORT_ASSIGN_OR_RETURN(const std::size_t got, from.read(std::span(parts).first(num_parts)));
  const std::size_t in_payload = std::min(got, payload.size());
  count_payload(payload.first(in_payload));
  filled_ += got - in_payload;
  return got;
}

std::span<const std::byte> InStream::take(std::size_t size_bytes) {
  const std::span<const std::byte> bytes = std::span(buffer_).subspan(used_, size_bytes);
  used_ += size_bytes;
  num_taken_ += size_bytes;
  return bytes;
}

Status InStream::peek_header() {
  const std::span<const std::byte> bytes = std::span(buffer_).subspan(used_, comm::kFrameHeaderBytes);
  COHORT_ASSIGN_OR_RETURN(header_, comm::decode_frame_header(bytes));
  return {};
}

void InStream::begin_message() {
  take(comm::kFrameHeaderBytes);
  num_payload_ = 0;
  checksum_ = 0;
  if (header_.size_bytes > 0) state_ = State::kPayload;
}

void InStream::take_payload(std::span<std::byte> room) {
  COHORT_CHECK(room.empty() || room.size() == header_.size_bytes);
  const std::size_t count = std::min<std::uint64_t>(in_buffer(), header_.size_bytes - num_payload_);
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

Result<InStream::Ending> InStream::end_message() {
  const std::span<const std::byte> trailer = take(kTrailerBytes);
  std::uint32_t checksum = 0;
  std::uint32_t state = 0;
  std::memcpy(&checksum, trailer.data(), sizeof checksum);
  std::memcpy(&state, trailer.data() + 4, sizeof state);
  const auto fault = [&](const std::string& what) {
    return Error(ErrorCode::kCorrupt, fmt::format("{} (channel {}, payload of {} bytes)", what,
                                                  comm::name(header_.channel), header_.size_bytes));
  };
  if (state > kStateWithdrawn) return fault(fmt::format("trailer field state is {}, expected 0 or 1", state));
  if (guard_ == Guard::kChecksum && state != kStateWithdrawn && checksum != checksum_) {
    return fault(fmt::format("trailer field checksum is {:#010x}, expected {:#010x}", checksum, checksum_));
  }
  state_ = State::kHeader;
  return state == kStateWithdrawn ? Ending::kWithdrawn : Ending::kArrived;
}

}  // namespace cohort::net
