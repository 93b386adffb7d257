#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace cohort {

/// Adds up the gradients of a rank's slots in the order of a binary tree over slot numbers, so that the bits
/// of the sum do not depend on how many ranks share the slots:
///
///     slot      0   1   2   3          ranks 0 and 1 hold two slots each:
///                \ /     \ /           their sums are the inner nodes of the same tree
///                 +       +
///                   \   /
///                     +
///
/// Threads: one at a time.
/// Cost: a buffer as large as the gradients for each level of the tree below the root.
class SlotTree {
 public:
  /// `numbers` holds the gradients of the next slot; after the last of `count` slots it holds their sum.
  void add(std::span<float> numbers, std::size_t index, std::size_t count);
  std::size_t size_bytes() const;

 private:
  std::vector<std::vector<float>> levels_;
};

/// Sets parts[0] to the sum of all parts, in the order of that tree. The number of parts is a power of two.
void sum_as_tree(std::span<float* const> parts, std::size_t count);
double sum_as_tree(std::span<const double> numbers);

}  // namespace cohort
