#pragma once

#include <cstddef>
#include <vector>

namespace cohort {

/// The lengths of the dimensions of a tensor, the outermost first; empty: a scalar.
using Shape = std::vector<std::size_t>;

/// A rectangular part of a tensor: `lengths[d]` indices of each dimension d, from `first[d]` on. Its elements
/// are in row-major order.
struct Box {
  Shape first{};
  Shape lengths{};

  bool operator==(const Box&) const = default;
};

/// The elements of a tensor that a rank holds: boxes laid end to end, and a range of the row of elements that
/// they form.
///
///     {.boxes = {{{0, 0}, {4, 6}}}, .first = 8, .count = 8}    elements 8 … 15 of a 4×6 matrix
///     {.boxes = {{{0, 2}, {4, 2}}}, .first = 0, .count = 8}    its columns 2 and 3
///     {.boxes = {{{0, 2}, {4, 2}}}, .first = 4, .count = 4}    the lower half of these columns
struct Slice {
  std::vector<Box> boxes{};
  std::size_t first = 0;
  std::size_t count = 0;

  bool operator==(const Slice&) const = default;
};

}  // namespace cohort
