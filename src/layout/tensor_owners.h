#pragma once

#include "layout/buckets.h"

#include <span>
#include <vector>

namespace cohort {

/// The rank that computes with each tensor as a whole: ranks get about equal shares of the costs. The most
/// expensive tensor comes first, each for the rank with the least work so far.
std::vector<int> owners_by_cost(std::span<const double> costs, int world);

/// Elements of a tensor that lie side by side in a rank's slice of a bucket.
struct TensorRun {
  std::size_t tensor = 0;
  std::size_t from = 0;  ///< offset in the tensor
  std::size_t count = 0;
  std::size_t bucket = 0;
  std::size_t first = 0;  ///< offset in the slice

  bool operator==(const TensorRun&) const = default;
};

/// All runs of a rank, in the order of buckets.
std::vector<TensorRun> runs_of_rank(const BucketLayout& layout, int rank, int world);

}  // namespace cohort
