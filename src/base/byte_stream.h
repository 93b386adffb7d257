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

/// Numbers and texts one after the other as bytes, little endian, without padding.
class ByteWriter {
 public:
  template <class Number>
  ByteWriter& number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
    return *this;
  }
  /// Its length, in four bytes, and its bytes.
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

/// Takes apart what a ByteWriter wrote. Once something is not there, or longer than allowed, nothing more is:
/// ask is_fine() at the end.
///
/// Lifetime: the bytes must outlive it.
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
