#pragma once

#include "comm/group/call.h"
#include "comm/shared_memory/layout.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cohort::comm {

/// Part `rank` of `total` elements, cut by `counts`, or evenly if `counts` is empty.
inline PartEntry part_of(std::size_t total, const std::vector<std::size_t>& counts, int rank, int world) {
  if (counts.empty()) {
    const std::size_t each = total / static_cast<std::size_t>(world);
    return {each * static_cast<std::size_t>(rank), each};
  }
  PartEntry part;
  for (int r = 0; r < rank; ++r) part.first += counts[static_cast<std::size_t>(r)];
  part.count = counts[static_cast<std::size_t>(rank)];
  return part;
}

/// The slice of `count` elements that `rank` combines. Slices are even and begin on cache lines, so that no
/// line is written by two ranks.
inline PartEntry slice_of(std::size_t count, std::size_t element_bytes, int rank, int world) {
  const std::size_t grain = kCacheLine / element_bytes;
  const std::size_t num_grains = (count + grain - 1) / grain;
  const auto w = static_cast<std::size_t>(world);
  const auto r = static_cast<std::size_t>(rank);
  const std::size_t first = std::min(count, num_grains * r / w * grain);
  const std::size_t last = std::min(count, num_grains * (r + 1) / w * grain);
  return {first, last - first};
}

}  // namespace cohort::comm
