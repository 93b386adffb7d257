#pragma once

#include <cohort/dtype.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cohort {

/// A tensor with a name, as bytes: little endian, row by row, without gaps. Somebody else owns the bytes.
struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

namespace state {

/// How many bytes a tensor of this shape has; nothing where a dimension is negative or the product has no
/// place in 63 bits.
std::optional<std::uint64_t> bytes_of(DType dtype, std::span<const std::int64_t> shape);

}  // namespace state
}  // namespace cohort
