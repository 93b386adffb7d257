#pragma once

#include <cohort/dtype.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <type_traits>

namespace cohort {

/// The DType of a C++ arithmetic type or std::byte. C++ has no types for bf16 and f16: pass those as a
/// pointer and a DType.
template <class T>
constexpr DType dtype_of() {
  using Number = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<Number, float>) {
    return DType::kF32;
  } else if constexpr (std::is_same_v<Number, double>) {
    return DType::kF64;
  } else if constexpr (std::is_same_v<Number, std::int8_t>) {
    return DType::kI8;
  } else if constexpr (std::is_same_v<Number, std::int16_t>) {
    return DType::kI16;
  } else if constexpr (std::is_same_v<Number, std::int32_t>) {
    return DType::kI32;
  } else if constexpr (std::is_same_v<Number, std::int64_t>) {
    return DType::kI64;
  } else if constexpr (std::is_same_v<Number, bool>) {
    return DType::kBool;
  } else {
    static_assert(std::is_same_v<Number, std::uint8_t> || std::is_same_v<Number, std::byte>,
                  "no DType for this type");
    return DType::kU8;
  }
}

namespace detail {

template <class Range>
using ElementOf = std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>;

/// A std::vector, std::array, std::span or array of numbers that lives on after the expression.
template <class Range>
concept RangeOfNumbers = requires(Range& range) {
  { std::size(range) } -> std::convertible_to<std::size_t>;
  std::data(range);
}
&&(std::is_arithmetic_v<ElementOf<Range>> || std::is_same_v<std::remove_cv_t<ElementOf<Range>>, std::byte>)&&(
    std::is_lvalue_reference_v<Range> || std::ranges::enable_borrowed_range<std::remove_cvref_t<Range>>);

}  // namespace detail

/// A typed, read-only view of contiguous numbers: pointer, count and DType. Owns nothing. Made of a
/// std::vector, std::array, std::span or C array, or of its three parts.
struct ConstNumbers {
  const std::byte* data = nullptr;
  std::size_t count = 0;
  DType dtype = DType::kU8;

  ConstNumbers() = default;
  ConstNumbers(const void* first, std::size_t num_elements, DType kind)
      : data(static_cast<const std::byte*>(first)), count(num_elements), dtype(kind) {}
  template <class Range>
  requires detail::RangeOfNumbers<Range> ConstNumbers(Range&& range)  // NOLINT
      : ConstNumbers(std::data(range), std::size(range), dtype_of<detail::ElementOf<Range>>()) {}

  std::size_t size_bytes() const { return count * cohort::size_bytes(dtype); }
  ConstNumbers slice(std::size_t first, std::size_t num_elements) const {
    return {data + first * cohort::size_bytes(dtype), num_elements, dtype};
  }
};

/// A typed, writable view of contiguous numbers, like ConstNumbers.
struct Numbers {
  std::byte* data = nullptr;
  std::size_t count = 0;
  DType dtype = DType::kU8;

  Numbers() = default;
  Numbers(void* first, std::size_t num_elements, DType kind)
      : data(static_cast<std::byte*>(first)), count(num_elements), dtype(kind) {}
  template <class Range>
  requires(detail::RangeOfNumbers<Range> && !std::is_const_v<detail::ElementOf<Range>>)
      Numbers(Range&& range)  // NOLINT
      : Numbers(std::data(range), std::size(range), dtype_of<detail::ElementOf<Range>>()) {}

  operator ConstNumbers() const { return {data, count, dtype}; }  // NOLINT
  std::size_t size_bytes() const { return count * cohort::size_bytes(dtype); }
  Numbers slice(std::size_t first, std::size_t num_elements) const {
    return {data + first * cohort::size_bytes(dtype), num_elements, dtype};
  }
};

}  // namespace cohort
