#include "state/tensor_view.h"

#include "base/checksum.h"

#include <array>
#include <fmt/format.h>

namespace cohort {
namespace {

// Each length is hashed before its bytes, so that no two lists of tensors give the same bytes.
void add_number(ContentHash& hash, std::uint64_t number) {
  std::array<std::byte, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(number >> (8 * i));
  hash.add(bytes);
}

void add_text(ContentHash& hash, std::string_view text) {
  add_number(hash, text.size());
  hash.add(std::as_bytes(std::span(text)));
}

}  // namespace

std::string parameters_hash(std::span<const TensorView> tensors) {
  ContentHash hash;
  for (const TensorView& tensor : tensors) {
    add_text(hash, tensor.name);
    add_text(hash, name(tensor.dtype));
    add_number(hash, tensor.shape.size());
    for (const std::int64_t dim : tensor.shape) add_number(hash, static_cast<std::uint64_t>(dim));
    add_number(hash, tensor.bytes.size());
    hash.add(tensor.bytes);
  }
  return fmt::format("{:016x}", hash.value());
}

namespace state {

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

}  // namespace state
}  // namespace cohort
