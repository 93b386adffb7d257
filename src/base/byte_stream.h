#pragma once

#include "base/check.h"
#include "base/result.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Bytes that leave the process: little endian, without padding.

namespace cohort {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

/// Writes a number or an array of bytes at an offset of a message of fixed layout.
template <class T>
void put_at(std::span<std::byte> bytes, std::size_t offset, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// Reads a number or an array of bytes at an offset of a message of fixed layout, whose length was checked.
template <class T>
T get_at(std::span<const std::byte> bytes, std::size_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Encodes numbers and strings one after the other.
class ByteWriter {
 public:
  template <class Number>
  ByteWriter& number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    return bytes(std::as_bytes(std::span(&value, 1)));
  }
  /// Appends the length as a 32-bit number, then the bytes of the string.
  ByteWriter& text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    return bytes(std::as_bytes(std::span(text)));
  }
  /// Appends bytes without their length.
  ByteWriter& bytes(std::span<const std::byte> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }

  std::vector<std::byte> take() { return std::move(bytes_); }
  /// For a message of fixed length.
  template <std::size_t length>
  std::array<std::byte, length> take_array() {
    COHORT_CHECK_EQ(bytes_.size(), length);
    std::array<std::byte, length> all{};
    std::copy(bytes_.begin(), bytes_.end(), all.begin());
    return all;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Decodes the output of a ByteWriter. Every read names its field, for the error.
///
/// Lifetime: the bytes must outlive the reader.
/// Failure: after a mistake all reads give zero or an empty string. Decode everything, then call finish() or
/// mistake().
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class Number>
  Number number(std::string_view field) {
    static_assert(std::is_arithmetic_v<Number>);
    if (!has(field, sizeof(Number))) return {};
    const auto value = get_at<Number>(rest_, 0);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  /// A number in a range, which includes `least` and `most`.
  template <class Number>
  Number number_within(std::string_view field, Number least, Number most) {
    const auto value = number<Number>(field);
    if (!is_fine() || (value >= least && value <= most)) return value;
    fail(fmt::format("field {} is {}, expected {} … {}", field, value, least, most));
    return {};
  }
  /// A string of at most `cap` bytes.
  std::string text(std::string_view field, std::size_t cap = std::size_t{1} << 20) {
    const auto length = number<std::uint32_t>(field);
    if (length > cap) fail(fmt::format("field {} has {} bytes, expected at most {}", field, length, cap));
    if (!has(field, length)) return {};
    std::string text(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
    return text;
  }
  /// The bytes that were not read yet.
  std::span<const std::byte> rest() const { return rest_; }
  bool is_at_end() const { return rest_.empty(); }
  bool is_fine() const { return mistake_.empty(); }

  /// kCorrupt, with the first mistake: `corrupt hello: field rank is 7, expected 0 … 3`.
  Status mistake(std::string_view message) const {
    if (is_fine()) return {};
    return Error(ErrorCode::kCorrupt, fmt::format("corrupt {}: {}", message, mistake_));
  }
  /// As mistake(), and kCorrupt if bytes are left over.
  Status finish(std::string_view message) {
    if (is_fine() && !rest_.empty()) {
      fail(fmt::format("{} bytes follow the last field, expected 0", rest_.size()));
    }
    return mistake(message);
  }

 private:
  bool has(std::string_view field, std::size_t size_bytes) {
    if (is_fine() && rest_.size() < size_bytes) {
      fail(fmt::format("field {} is cut off after {} bytes, expected {}", field, rest_.size(), size_bytes));
    }
    return is_fine();
  }
  void fail(std::string mistake) {
    mistake_ = std::move(mistake);
    rest_ = {};
  }

  std::span<const std::byte> rest_;
  std::string mistake_;
};

}  // namespace cohort
