#pragma once

#include <cohort/dtype.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace cohort {

/// The DType of a C++ type that has one. The 16-bit floats have none: they travel as bits with their DType.
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

/// A run of numbers of one kind that somebody else owns, to be read.
struct ConstNumbers {
  const std::byte* data = nullptr;
  std::size_t count = 0;
  DType dtype = DType::kU8;

  ConstNumbers() = default;
  ConstNumbers(const void* first, std::size_t num_elements, DType kind)
      : data(static_cast<const std::byte*>(first)), count(num_elements), dtype(kind) {}
  template <class T>
  ConstNumbers(std::span<const T> span) : ConstNumbers(span.data(), span.size(), dtype_of<T>()) {}  // NOLINT

  std::size_t size_bytes() const { return count * cohort::size_bytes(dtype); }
  ConstNumbers slice(std::size_t first, std::size_t num_elements) const {
    return {data + first * cohort::size_bytes(dtype), num_elements, dtype};
  }
};

/// A run of numbers of one kind that somebody else owns, to be written.
struct Numbers {
  std::byte* data = nullptr;
  std::size_t count = 0;
  DType dtype = DType::kU8;

  Numbers() = default;
  Numbers(void* first, std::size_t num_elements, DType kind)
      : data(static_cast<std::byte*>(first)), count(num_elements), dtype(kind) {}
  template <class T>
  requires(!std::is_const_v<T>) Numbers(std::span<T> span)
      : Numbers(span.data(), span.size(), dtype_of<T>()) {}  // NOLINT

  operator ConstNumbers() const { return {data, count, dtype}; }  // NOLINT
  std::size_t size_bytes() const { return count * cohort::size_bytes(dtype); }
  Numbers slice(std::size_t first, std::size_t num_elements) const {
    return {data + first * cohort::size_bytes(dtype), num_elements, dtype};
  }
};

}  // namespace cohort
