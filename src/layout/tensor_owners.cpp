#include "layout/tensor_owners.h"

#include <algorithm>
#include <numeric>

namespace cohort {

std::vector<int> owners_by_cost(std::span<const double> costs, int world) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  std::vector<double> work(static_cast<std::size_t>(world));
  std::vector<int> owners(costs.size());
  for (const std::size_t tensor : order) {
    const auto least = std::min_element(work.begin(), work.end());
    *least += costs[tensor];
    owners[tensor] = static_cast<int>(least - work.begin());
  }
  return owners;
}

std::vector<TensorRun> runs_of_rank(const BucketLayout& layout, int rank, int world) {
  std::vector<TensorRun> runs;
  for (std::size_t b = 0; b < layout.buckets.size(); ++b) {
    const BucketSlice slice = slice_of(layout.buckets[b], rank, world);
    for (const BucketEntry& entry : layout.buckets[b].entries) {
      const std::size_t first = std::max(entry.first, slice.first);
      const std::size_t last = std::min(entry.first + entry.count, slice.first + slice.count);
      if (first >= last) continue;
      runs.push_back({.tensor = entry.parameter,
                      .from = entry.from + (first - entry.first),
                      .count = last - first,
                      .bucket = b,
                      .first = first - slice.first});
    }
  }
  return runs;
}

}  // namespace cohort
