#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cohort {

/// Encodes numbers and strings one after the other: little endian, no padding.
class ByteWriter {
 public:
  template <class Number>
  ByteWriter& number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
    return *this;
  }
  /// Appends the length as a 32-bit number, then the bytes of the string.
  ByteWriter& text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), first, first + text.size());
    return *this;
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Decodes the output of a ByteWriter.
///
/// Lifetime: the bytes must outlive the reader.
/// Failure: after a read past the end, or of a string above its cap, reads give zero or an empty string.
/// Decode everything, then ask is_fine() once.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class Number>
  Number number() {
    static_assert(std::is_arithmetic_v<Number>);
    Number value{};
    if (rest_.size() < sizeof value) return fail(), value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  /// A string of at most `cap` bytes.
  std::string text(std::size_t cap = std::size_t{1} << 20) {
    const auto length = number<std::uint32_t>();
    if (length > cap || length > rest_.size()) return fail(), std::string();
    std::string text(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
    return text;
  }
  bool is_at_end() const { return rest_.empty(); }
  bool is_fine() const { return is_fine_; }

 private:
  void fail() {
    is_fine_ = false;
    rest_ = {};
  }

  std::span<const std::byte> rest_;
  bool is_fine_ = true;
};

}  // namespace cohort
