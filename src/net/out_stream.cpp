#include "net/out_stream.h"

#include "base/check.h"
#include "base/checksum.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace cohort::net {
namespace {

constexpr std::size_t kMostParts = 64;

// Sent in place of a cancelled payload.
constexpr std::array<std::byte, std::size_t{64} << 10> kZeros{};

iovec part(const std::byte* data, std::size_t size) {
  return {const_cast<std::byte*>(data), size};
}

}  // namespace

void OutStream::add(const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent) {
  COHORT_CHECK_EQ(header.size_bytes, payload.size());
  Message& message = messages_.emplace_back();
  message.first = end_;
  message.header = header;
  comm::encode(header, message.header_bytes);
  message.sent = std::move(sent);
  message.payload = payload;
  if (payload.size() <= kCopied) {
    message.copy.assign(payload.begin(), payload.end());
    message.payload = message.copy;
    if (end_ - taken_ < kCopiedCap) make_ready(header, std::exchange(message.sent, nullptr));
  }
  end_ += message.size();
}

void OutStream::withdraw(std::uint32_t group, std::uint32_t generation) {
  std::erase_if(ready_,
                [&](const Ready& each) { return each.group == group && each.generation <= generation; });
  withdraw_those([&](const comm::FrameHeader& header) {
    return header.group == group && header.generation <= generation;
  });
}

void OutStream::withdraw_all() {
  ready_.clear();
  withdraw_those([](const comm::FrameHeader&) { return true; });
}

template <class Which>
void OutStream::withdraw_those(Which is_one) {
  // A message without a written byte is removed, and the messages behind it move up. Copied messages stay:
  // their callbacks may have run already.
  std::uint64_t first = messages_.empty() ? end_ : messages_.front().first;
  std::deque<Message> kept;
  for (Message& message : messages_) {
    if (is_one(message.header)) message.sent = nullptr;
    if (is_one(message.header) && message.header.size_bytes > kCopied) {
      const bool has_begun = message.first < std::max(most_written_, next_);
      const bool is_stripe = message.header.channel == comm::Channel::kStripe;
      if (!has_begun && !is_stripe) continue;
      if (has_begun) message.is_withdrawn = true;
      if (!has_begun && is_stripe) empty(message);
    }
    message.first = first;
    first += message.size();
    kept.push_back(std::move(message));
    if (!kept.back().copy.empty()) kept.back().payload = kept.back().copy;
  }
  messages_ = std::move(kept);
  end_ = first;
}

void OutStream::empty(Message& message) {
  message.header.size_bytes = 0;
  message.payload = {};
  comm::encode(message.header, message.header_bytes);
}

bool OutStream::has_payload() const {
  return std::any_of(messages_.begin(), messages_.end(), [](const Message& message) {
    const comm::Channel channel = message.header.channel;
    return channel != comm::Channel::kReceipt && channel != comm::Channel::kFarewell;
  });
}

std::span<const iovec> OutStream::gather(std::size_t cap) {
  parts_.clear();
  std::uint64_t position = next_;
  for (Message& message : messages_) {
    if (message.first + message.size() <= position) continue;
    COHORT_CHECK_GE(position, message.first);
    while (cap > 0 && position < message.first + message.size() && parts_.size() < kMostParts) {
      const std::size_t added = add_parts(message, position - message.first, cap);
      position += added;
      cap -= added;
    }
    if (cap == 0 || parts_.size() == kMostParts) break;
  }
  most_written_ = std::max(most_written_, position);
  return parts_;
}

// Adds one part of the message, from its byte `from` on, and returns its size.
std::size_t OutStream::add_parts(Message& message, std::uint64_t from, std::size_t cap) {
  const std::size_t header_size = message.header_bytes.size();
  const std::size_t payload_size = message.header.size_bytes;
  if (from < header_size) {
    const std::size_t count = std::min<std::size_t>(cap, header_size - from);
    parts_.push_back(part(message.header_bytes.data() + from, count));
    return count;
  }
  from -= header_size;
  if (from < payload_size) {
    std::size_t count = std::min<std::size_t>(cap, payload_size - from);
    if (message.is_withdrawn) count = std::min(count, kZeros.size());
    add_payload(message, from, count);
    return count;
  }
  from -= payload_size;
  finish_trailer(message);
  const std::size_t count = std::min<std::size_t>(cap, kTrailerBytes - from);
  parts_.push_back(part(message.trailer.data() + from, count));
  return count;
}

void OutStream::add_payload(Message& message, std::size_t from, std::size_t count) {
  if (message.is_withdrawn) {
    parts_.push_back(part(kZeros.data(), count));
    return;
  }
  // Retransmitted bytes are in the checksum already. Computing it here, right before the kernel copies the
  // same bytes, reads them from memory once: the kernel finds them in the cache.
  if (guard_ == Guard::kChecksum && from + count > message.num_summed) {
    const std::size_t first = message.num_summed;
    message.checksum = crc32c(message.payload.subspan(first, from + count - first), message.checksum);
    message.num_summed = from + count;
  }
  parts_.push_back(part(message.payload.data() + from, count));
}

void OutStream::finish_trailer(Message& message) {
  const std::uint32_t state = message.is_withdrawn ? kStateWithdrawn : 0;
  std::memcpy(message.trailer.data(), &message.checksum, sizeof message.checksum);
  std::memcpy(message.trailer.data() + 4, &state, sizeof state);
}

Status OutStream::has_taken(std::uint64_t position) {
  if (position > most_written_) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("acknowledged position is {}, expected at most {} bytes written", position,
                             most_written_));
  }
  if (position <= taken_) return {};
  taken_ = position;
  while (!messages_.empty() && messages_.front().first + messages_.front().size() <= position) {
    make_ready(messages_.front().header, std::move(messages_.front().sent));
    messages_.pop_front();
  }
  return {};
}

Status OutStream::go_on_from(std::uint64_t position) {
  if (position < taken_) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("position to resume is {}, expected at least {}, which was acknowledged before",
                             position, taken_));
  }
  COHORT_RETURN_IF_ERROR(has_taken(position));
  next_ = position;
  return {};
}

void OutStream::make_ready(const comm::FrameHeader& header, Sent sent) {
  if (sent) ready_.push_back({header.group, header.generation, std::move(sent)});
}

std::vector<OutStream::Sent> OutStream::take_ready() {
  std::vector<Sent> all;
  for (Ready& each : ready_) all.push_back(std::move(each.sent));
  ready_.clear();
  return all;
}

std::vector<OutStream::Sent> OutStream::abandon() {
  std::vector<Sent> all;
  for (Message& message : messages_) {
    if (message.sent) all.push_back(std::exchange(message.sent, nullptr));
  }
  withdraw_those([](const comm::FrameHeader&) { return true; });
  return all;
}

}  // namespace cohort::net
