#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace cohort {

/// The position of a parameter, or of a piece of a large parameter, in the flat memory of all buckets. All
/// numbers are in elements.
struct BucketEntry {
  std::size_t parameter = 0;  ///< index of the parameter
  std::size_t first = 0;      ///< from the start of the flat memory
  std::size_t count = 0;
  std::size_t from = 0;  ///< offset of the piece in the parameter
};

/// Parameters whose gradients are reduced together; they lie side by side in the flat memory.
struct Bucket {
  std::size_t first = 0;  ///< from the start of the flat memory
  std::size_t count = 0;  ///< with padding; a multiple of the number of ranks
  std::vector<BucketEntry> entries;
  int part = 0;  ///< of all its parameters
};

struct BucketOptions {
  int world = 1;
  std::size_t first_elements = std::size_t{1}
                               << 18;  ///< size of the first bucket, small so that reduction begins early
  std::size_t elements =
      std::size_t{1}
      << 20;  ///< size of the other buckets; a larger parameter gets several buckets of its own
};

/// The assignment of parameters to buckets. Every parameter starts on a cache line. Every bucket is cut into
/// one slice per rank, of equal sizes and on cache lines. The pieces of a large parameter lie side by side
/// without a gap. A large parameter is cut so that a piece is still in the cache when it is updated and
/// gathered after its reduction.
struct BucketLayout {
  std::vector<Bucket> buckets;
  std::size_t count = 0;  ///< size of the flat memory
};

/// `sizes[p]` is the number of elements of parameter p; `order` lists the parameters in the order
/// in which backward completes their gradients.
BucketLayout plan_buckets(std::span<const std::size_t> sizes, std::span<const std::size_t> order,
                          const BucketOptions& options);

/// plan_buckets() with buckets of about `elements`, and a first one of a quarter of that.
BucketLayout layout_for(std::span<const std::size_t> sizes, std::span<const std::size_t> order, int world,
                        std::size_t elements);

/// The same for parameters that are divided into parts: no bucket has parameters of two parts. Buckets are in
/// the order in which backward completes them. `part_of`: the part of each parameter, from 0 on.
BucketLayout layout_by_part(std::span<const std::size_t> sizes, std::span<const std::size_t> order,
                            std::span<const int> part_of, int world, std::size_t elements);

/// The elements of a bucket that one rank reduces and updates.
struct BucketSlice {
  std::size_t first = 0;  ///< from the start of the flat memory
  std::size_t count = 0;
};
BucketSlice slice_of(const Bucket& bucket, int rank, int world);

}  // namespace cohort
