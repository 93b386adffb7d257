#include "reduce/slot_tree.h"

#include "base/check.h"
#include "comm/numbers/combine.h"

#include <algorithm>
#include <array>

namespace cohort {
namespace {

void add_to(float* sum, const float* other, std::size_t count) {
  auto* target = reinterpret_cast<std::byte*>(sum);
  const std::array<const std::byte*, 2> inputs{target, reinterpret_cast<const std::byte*>(other)};
  const std::array<std::byte*, 1> targets{target};
  comm::combine(ReduceOp::kSum, DType::kF32, inputs, targets, count);
}

}  // namespace

std::size_t SlotTree::size_bytes() const {
  std::size_t count = 0;
  for (const std::vector<float>& level : levels_) count += level.capacity();
  return count * sizeof(float);
}

void SlotTree::add(std::span<float> numbers, std::size_t index, std::size_t count) {
  std::size_t level = 0;
  for (; (index >> level) % 2 == 1; ++level) add_to(numbers.data(), levels_[level].data(), numbers.size());
  if (index + 1 == count) return;
  if (levels_.size() <= level) levels_.resize(level + 1);
  levels_[level].assign(numbers.begin(), numbers.end());
}

void sum_as_tree(std::span<float* const> parts, std::size_t count) {
  if (parts.size() == 1) return;
  const std::size_t half = parts.size() / 2;
  sum_as_tree(parts.first(half), count);
  sum_as_tree(parts.subspan(half), count);
  add_to(parts[0], parts[half], count);
}

double sum_as_tree(std::span<const double> numbers) {
  if (numbers.empty()) return 0;
  if (numbers.size() == 1) return numbers[0];
  const std::size_t half = numbers.size() / 2;
  return sum_as_tree(numbers.first(half)) + sum_as_tree(numbers.subspan(half));
}

}  // namespace cohort
