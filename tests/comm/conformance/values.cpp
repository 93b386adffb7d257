#include "comm/conformance/values.h"

#include "base/float16.h"

#include <algorithm>
#include <cstring>

namespace cohort::test {
namespace {

constexpr std::byte kGuard{0xa5};

template <class T>
void put(T value, std::byte* at) {
  std::memcpy(at, &value, sizeof value);
}

std::int64_t combined_bits(ReduceOp op, int world, std::size_t index) {
  std::int64_t result = value_of(0, index);
  for (int r = 1; r < world; ++r) {
    const std::int64_t next = value_of(r, index);
    if (op == ReduceOp::kAnd) result &= next;
    if (op == ReduceOp::kOr) result |= next;
    if (op == ReduceOp::kXor) result ^= next;
  }
  return result;
}

}  // namespace

std::int64_t value_of(int rank, std::size_t index) {
  return static_cast<std::int64_t>((index * 5 + static_cast<std::size_t>(rank) * 7 + index / 11) % 3) + 1;
}

double combined_value(ReduceOp op, int world, std::size_t index) {
  if (op == ReduceOp::kAnd || op == ReduceOp::kOr || op == ReduceOp::kXor) {
    return static_cast<double>(combined_bits(op, world, index));
  }
  auto result = static_cast<double>(value_of(0, index));
  for (int r = 1; r < world; ++r) {
    const auto next = static_cast<double>(value_of(r, index));
    switch (op) {
      case ReduceOp::kSum:
      case ReduceOp::kMean:
        result += next;
        break;
      case ReduceOp::kMin:
        result = std::min(result, next);
        break;
      case ReduceOp::kMax:
        result = std::max(result, next);
        break;
      case ReduceOp::kProduct:
        result *= next;
        break;
      default:
        break;
    }
  }
  return result / (op == ReduceOp::kMean ? world : 1);
}

void store(DType dtype, double value, std::byte* at) {
  const auto whole = static_cast<std::int64_t>(value);  // integers are rounded towards zero, and wrap
  switch (dtype) {
    case DType::kF32:
      return put(static_cast<float>(value), at);
    case DType::kF64:
      return put(value, at);
    case DType::kBF16:
      return put(bf16_from_f32(static_cast<float>(value)), at);
    case DType::kF16:
      return put(f16_from_f32(static_cast<float>(value)), at);
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      return put(static_cast<std::uint8_t>(whole), at);
    case DType::kI16:
      return put(static_cast<std::int16_t>(whole), at);
    case DType::kI32:
      return put(static_cast<std::int32_t>(whole), at);
    case DType::kI64:
      return put(whole, at);
  }
}

Guarded::Guarded(std::size_t count, DType dtype, std::pmr::memory_resource* memory)
    : count_(count), dtype_(dtype), bytes_(count * size_bytes(dtype) + 2 * kMargin, kGuard, memory) {}

bool Guarded::is_equal(std::size_t index, const std::byte* expected) const {
  const std::size_t width = size_bytes(dtype_);
  return std::memcmp(bytes_.data() + kMargin + index * width, expected, width) == 0;
}

bool Guarded::margins_are_intact() const {
  const auto is_guard = [](std::byte byte) { return byte == kGuard; };
  return std::all_of(bytes_.begin(), bytes_.begin() + kMargin, is_guard) &&
         std::all_of(bytes_.end() - kMargin, bytes_.end(), is_guard);
}

}  // namespace cohort::test
