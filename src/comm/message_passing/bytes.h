#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <vector>

namespace cohort::comm {

/// Writes numbers one after the other, little endian, without padding.
///
/// Threads: one at a time.
class ByteWriter {
 public:
  void put_u8(std::uint8_t value) { put(value, 1); }
  void put_u32(std::uint32_t value) { put(value, 4); }
  void put_u64(std::uint64_t value) { put(value, 8); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void put(std::uint64_t value, int width);

  std::vector<std::byte> bytes_;
};

/// Reads the numbers that a ByteWriter has written.
///
/// Threads: one at a time.
/// Failure: missing bytes read as zero, and finish() returns kCorrupt.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(get(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(get(4)); }
  std::uint64_t u64() { return get(8); }
  /// kCorrupt if bytes were missing or are left over.
  Status finish(std::string_view what) const;

 private:
  std::uint64_t get(std::size_t width);

  std::span<const std::byte> rest_;
  bool short_ = false;
};

inline void ByteWriter::put(std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
}

inline std::uint64_t ByteReader::get(std::size_t width) {
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

inline Status ByteReader::finish(std::string_view what) const {
  if (!short_ && rest_.empty()) return {};
  return Error(ErrorCode::kCorrupt, short_ ? fmt::format("{} ends early", what)
                                           : fmt::format("{} bytes follow {}", rest_.size(), what));
}

}  // namespace cohort::comm
