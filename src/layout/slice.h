#pragma once

#include "base/result.h"
#include <cohort/slice.h>

#include <span>
#include <string>
#include <vector>

// Which elements move where when a tensor changes from one layout to another: all arithmetic of resharding is
// here. An element is addressed by its offset in the memory of a slice, so nothing depends on ranks or types.

namespace cohort {

/// The number of elements of a tensor of this shape.
std::size_t num_elements(const Shape& shape);
/// All elements of a tensor.
Slice whole(const Shape& shape);
/// `count` elements of a tensor from `first` on, in row-major order.
Slice flat_range(const Shape& shape, std::size_t first, std::size_t count);

/// Failure: kUsage if a box does not fit into the shape, or the range into the boxes.
Status check_slice(const Shape& shape, const Slice& slice);
/// `elements 8 … 15 of [0…4)×[0…6)`.
std::string text_of(const Slice& slice);

/// Elements that lie side by side in two slices, counted in elements from the start of each.
struct Run {
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t count = 0;

  bool operator==(const Run&) const = default;
};

/// The elements of `want` that `have` has, in the order of `want`, as few runs as possible. Both are slices
/// of the same tensor.
///
/// Cost: the number of runs, and a logarithm of the number of rows for each pair of boxes.
std::vector<Run> runs(const Slice& have, const Slice& want);

/// A run of elements of one of several slices.
struct SourceRun {
  std::size_t source = 0;  ///< index of the slice
  Run run{};

  bool operator==(const SourceRun&) const = default;
};

/// Elements of a slice that no source has.
struct Gap {
  std::size_t first = 0;
  std::size_t count = 0;

  bool operator==(const Gap&) const = default;
};

/// Where every element of a slice comes from.
struct Cover {
  std::vector<SourceRun> parts{};  ///< by source, then in the order of the slice
  std::vector<Gap> missing{};
};

/// Takes every element of `want` from the first of the slices that has it.
///
/// Cost: that of runs() for each slice, and a logarithm of the number of gaps for each run.
Cover cover(std::span<const Slice> have, const Slice& want);

}  // namespace cohort
