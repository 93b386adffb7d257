#include "comm/scheduled/bytes.h"

#include <fmt/format.h>

namespace cohort::comm {

void ByteWriter::put(std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
}

std::uint64_t ByteReader::get(std::size_t width) {
  if (rest_.size() < width) {
    short_ = true;
    rest_ = {};
    return 0;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value |= std::to_integer<std::uint64_t>(rest_[i]) << (8 * i);
  rest_ = rest_.subspan(width);
  return value;
}

Status ByteReader::finish(std::string_view what) const {
  if (!short_ && rest_.empty()) return {};
  return Error(ErrorCode::kCorrupt, fmt::format("{} is too {}", what, short_ ? "short" : "long"));
}

}  // namespace cohort::comm
