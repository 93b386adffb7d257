#pragma once

#include <cohort/numbers.h>
#include <cohort/reduce_op.h>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

namespace cohort::test {

/// The types of numbers that can be combined, except booleans.
inline constexpr DType kCombinable[] = {DType::kF32, DType::kF64, DType::kBF16, DType::kF16, DType::kI8,
                                        DType::kI16, DType::kI32, DType::kI64,  DType::kU8};

/// The value of rank r at index i: 1, 2 or 3, depending on both. Sums and products of eight values are exact
/// in every floating-point type, and integers wrap.
std::int64_t value_of(int rank, std::size_t index);
/// The combination of value_of(0 … world − 1, index).
double combined_value(ReduceOp op, int world, std::size_t index);

/// Writes a number as one element of the type.
void store(DType dtype, double value, std::byte* at);

/// Numbers with a margin on both sides that no call may write.
class Guarded {
 public:
  Guarded(std::size_t count, DType dtype, std::pmr::memory_resource* memory);

  Numbers numbers() { return {bytes_.data() + kMargin, count_, dtype_}; }
  /// Elements first … first + count.
  Numbers part(std::size_t first, std::size_t count) { return numbers().slice(first, count); }
  /// Element i becomes value(i).
  template <class Value>
  void fill(Value value) {
    for (std::size_t i = 0; i < count_; ++i) store(dtype_, static_cast<double>(value(i)), at(i));
  }
  /// True if element first + i is value(i) for all i < count, bit for bit.
  template <class Value>
  bool holds(std::size_t first, std::size_t count, Value value) const {
    std::byte expected[8] = {};
    for (std::size_t i = 0; i < count; ++i) {
      store(dtype_, static_cast<double>(value(i)), expected);
      if (!is_equal(first + i, expected)) return false;
    }
    return true;
  }
  template <class Value>
  bool holds(Value value) const {
    return holds(0, count_, value);
  }
  bool margins_are_intact() const;
  std::size_t count() const { return count_; }

 private:
  static constexpr std::size_t kMargin = 64;

  std::byte* at(std::size_t index) { return bytes_.data() + kMargin + index * size_bytes(dtype_); }
  bool is_equal(std::size_t index, const std::byte* expected) const;

  std::size_t count_;
  DType dtype_;
  std::pmr::vector<std::byte> bytes_;
};

}  // namespace cohort::test
