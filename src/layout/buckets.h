#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace cohort {

/// Where a parameter, or a piece of a large one, lies in the flat memory of all buckets, in elements.
struct BucketEntry {
  std::size_t parameter = 0;  ///< its number among the parameters
  std::size_t first = 0;      ///< from the start of the flat memory
  std::size_t count = 0;
  std::size_t from = 0;  ///< where in the parameter the piece begins
};

/// Consecutive parameters that are reduced together.
struct Bucket {
  std::size_t first = 0;  ///< from the start of the flat memory
  std::size_t count = 0;  ///< padding included; a multiple of the world
  std::vector<BucketEntry> entries;
};

struct BucketOptions {
  int world = 1;
  std::size_t first_elements = std::size_t{1} << 18;  ///< the first bucket is small: reduction begins early
  std::size_t elements = std::size_t{1} << 20;  ///< the others; a larger parameter has several of its own
};

/// How parameters share buckets. Each parameter starts on a cache line, each bucket is cut into as many equal
/// slices as there are ranks, on cache lines too. The pieces of a large parameter follow each other without a
/// gap: reducing, updating and gathering piece by piece finds in the cache what the step before left there.
struct BucketLayout {
  std::vector<Bucket> buckets;
  std::size_t count = 0;  ///< of the flat memory
};

/// `sizes[p]` is the number of elements of parameter p; `order` says in which order their gradients come.
BucketLayout plan_buckets(std::span<const std::size_t> sizes, std::span<const std::size_t> order,
                          const BucketOptions& options);

/// The same with buckets of about `elements`, the first of a quarter of that.
BucketLayout layout_for(std::span<const std::size_t> sizes, std::span<const std::size_t> order, int world,
                        std::size_t elements);

/// The elements of `bucket` that `rank` sums up and updates.
struct BucketSlice {
  std::size_t first = 0;  ///< from the start of the flat memory
  std::size_t count = 0;
};
BucketSlice slice_of(const Bucket& bucket, int rank, int world);

}  // namespace cohort
