#include "state/tensor_view.h"

namespace cohort::state {

std::optional<std::uint64_t> bytes_of(DType dtype, std::span<const std::int64_t> shape) {
  auto product = static_cast<std::int64_t>(size_bytes(dtype));
  bool is_empty = false;
  for (const std::int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      is_empty = true;
    } else if (__builtin_mul_overflow(product, dim, &product)) {
      return std::nullopt;
    }
  }
  return is_empty ? 0 : static_cast<std::uint64_t>(product);
}

}  // namespace cohort::state
