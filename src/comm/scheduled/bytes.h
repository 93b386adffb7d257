#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cohort::comm {

/// Puts numbers one after the other, little endian, without padding.
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

/// Takes them out again.
///
/// Threads: one at a time.
/// Failure: what is missing reads as zero, and finish() says kCorrupt.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(get(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(get(4)); }
  std::uint64_t u64() { return get(8); }
  /// kCorrupt if something was missing or is left over.
  Status finish(std::string_view what) const;

 private:
  std::uint64_t get(std::size_t width);

  std::span<const std::byte> rest_;
  bool short_ = false;
};

}  // namespace cohort::comm
