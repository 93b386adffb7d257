#pragma once

#include <cohort/dtype.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cohort {

/// A tensor with a name, as bytes: little endian, row-major, without gaps. The view does not own the bytes.
struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// A hash over names, types, shapes and bytes, in order, as 16 hexadecimal digits: equal for two models with
/// the same content. Not cryptographic.
std::string parameters_hash(std::span<const TensorView> tensors);

namespace state {

/// The bytes of a tensor of this shape; nothing if a dimension is negative or the product exceeds 63 bits.
std::optional<std::uint64_t> bytes_of(DType dtype, std::span<const std::int64_t> shape);

}  // namespace state
}  // namespace cohort
