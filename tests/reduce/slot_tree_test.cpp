#include "reduce/slot_tree.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

TEST(SlotTree, IsTheSameHoweverSlotsAreShared) {
  constexpr std::size_t kSlots = 8;
  const auto slot = [](std::size_t i) {
    return std::vector<float>{1.0f / static_cast<float>(3 * i + 1), 1e8f * (i % 2 ? 1.0f : -1.0f)};
  };
  std::vector<std::vector<float>> sums;
  for (const std::size_t ranks : {1u, 2u, 4u, 8u}) {
    std::vector<std::vector<float>> parts;
    const std::size_t each = kSlots / ranks;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      SlotTree tree;
      std::vector<float> numbers;
      for (std::size_t i = 0; i < each; ++i) {
        numbers = slot(rank * each + i);
        tree.add(numbers, i, each);
      }
      parts.push_back(numbers);
    }
    std::vector<float*> pointers;
    for (auto& part : parts) pointers.push_back(part.data());
    sum_as_tree(pointers, 2);
    sums.push_back(parts[0]);
  }
  for (const auto& sum : sums) EXPECT_EQ(sum, sums[0]);
}

}  // namespace
}  // namespace cohort
