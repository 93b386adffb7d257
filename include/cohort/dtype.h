#pragma once

#include <cohort/export.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort {

/// The type of the numbers in a buffer, as torch::ScalarType. Code that does not use libtorch handles a
/// tensor as bytes and a DType.
enum class DType : std::uint8_t { kF32, kF64, kBF16, kF16, kI8, kI16, kI32, kI64, kU8, kBool };

inline constexpr DType kAllDTypes[] = {DType::kF32, DType::kF64, DType::kBF16, DType::kF16, DType::kI8,
                                       DType::kI16, DType::kI32, DType::kI64,  DType::kU8,  DType::kBool};

/// Bytes of one element.
constexpr std::size_t size_bytes(DType dtype) {
  constexpr std::size_t kSizes[] = {4, 8, 2, 2, 1, 2, 4, 8, 1, 1};  // in the order of the enumerators
  return kSizes[static_cast<std::size_t>(dtype)];
}
/// `f32`, `bf16`, `i64`, …: the name in job files, messages and JSON.
COHORT_EXPORT std::string_view name(DType dtype);
/// The DType with this name; empty for an unknown name.
COHORT_EXPORT std::optional<DType> dtype_named(std::string_view name);
/// True for f32, f64, bf16 and f16.
COHORT_EXPORT bool is_floating(DType dtype);

}  // namespace cohort
