#include "interchange/input/byte_feed.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::interchange {
namespace {

constexpr std::size_t kFetchBytes = std::size_t{64} << 10;

}  // namespace

Status ByteFeed::fetch(std::size_t count, std::string_view field) {
  const std::size_t kept = buffer_.size() - at_;
  const std::uint64_t rest = window_.size_bytes() - fetched_;
  if (count - kept > rest) {
    return Error(ErrorCode::kCorrupt, fmt::format("{} at byte {} is cut off: expected {} bytes, found {}",
                                                  field, place(), count, kept + rest));
  }
  const std::size_t more = std::min<std::uint64_t>(std::max(count - kept, kFetchBytes), rest);
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  buffer_.resize(kept + more);
  Status read = window_.read(fetched_, std::span(buffer_).subspan(kept));
  if (!read) {
    buffer_.resize(kept);
    return read;
  }
  fetched_ += more;
  return {};
}

Result<std::span<const std::byte>> ByteFeed::take(std::size_t count, std::string_view field) {
  if (count > buffer_.size() - at_) COHORT_RETURN_IF_ERROR(fetch(count, field));
  const auto bytes = std::span<const std::byte>(buffer_).subspan(at_, count);
  at_ += count;
  return bytes;
}

Result<std::string> ByteFeed::line(std::size_t cap, std::string_view field) {
  const std::uint64_t begin = place();
  std::string text;
  while (true) {
    COHORT_ASSIGN_OR_RETURN(const char letter, number<char>(field));
    if (letter == '\n') return text;
    if (text.size() == cap) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("{} at byte {} is longer than the {} bytes that are read", field, begin, cap));
    }
    text += letter;
  }
}

}  // namespace cohort::interchange
