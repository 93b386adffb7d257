#pragma once

#include "reduce/company.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace cohort {

/// The order in which ranks' gradients are added.
enum class Summation {
  kByRank,  ///< from rank 0 to rank n−1: the same bits in every run with as many ranks
  kByTree,  ///< as a binary tree: the same bits for every number of ranks that is a power of two
};

/// The gradients of one bucket, to be summed over the ranks of a group.
struct ReduceJob {
  const Company& groups;  ///< of the lane that runs the job
  int lane = 1;           ///< number of that lane
  /// The gradients of this rank, f32, in the arena if ranks share memory. The bucket is cut into one shard
  /// per rank, of equal sizes.
  Numbers gradients{};
  std::size_t bucket = 0;  ///< for error messages

  /// The elements of this rank's shard, in the gradients.
  Numbers own_slice() const;
  /// A failure of the groups, with the bucket in its text.
  void throw_unless(Status status) const;
};

/// A way in which the gradients of all ranks become their sum: each rank gets the sum of its slice of a
/// bucket. A new way is a class of its own and a line in reducer_kinds().
///
/// Threads: one job at a time for each lane; jobs of different lanes at the same time.
/// Failure: throws what the groups report, and the error of a consumer, which may have failed one group only:
/// the caller tells all ranks by Company::abort().
class Reducer {
 public:
  virtual ~Reducer() = default;

  /// Hands the sum of this rank's slice to `consumer`, piece by piece, in order. Other ranks and backward may
  /// still read the gradients: they are not changed, unless the class says so.
  virtual void reduce(const ReduceJob& job, const Consumer& consumer) = 0;
  /// Puts the sum of this rank's slice into `to`, unless sums_in_place(): then it replaces the slice.
  virtual void reduce(const ReduceJob& job, Numbers to) = 0;
  /// True if the sum replaces the slice of this rank's gradients, and needs no other memory.
  virtual bool sums_in_place() const = 0;
  /// The bytes of memory that this holds now.
  virtual std::size_t size_bytes() const = 0;
};

/// A reducer by the name under which groups of parameters ask for it.
struct ReducerKind {
  std::string_view name;
  NearGroups near;     ///< the groups that it sums by
  bool sums_in_place;  ///< in a group of several ranks
  /// `num_lanes`: numbers of lanes are below this. All lanes have groups as `groups`.
  std::unique_ptr<Reducer> (*make)(const Company& groups, int num_lanes);
};
/// All reducers; docs/adding-a-reducer.md adds one.
std::span<const ReducerKind> reducer_kinds();
/// The reducer that adds gradients in this order.
const ReducerKind& default_reducer(Summation summation);

/// Sums in the order of ranks, by a reduce-scatter; on several hosts in the order of the ranks of each host,
/// and then of hosts.
///
/// Cost: one slice per lane, unless numbers in the arena are reduced without a copy; nothing for one rank. On
/// several hosts with several ranks each, the slices that a rank reduces inside its host besides.
std::unique_ptr<Reducer> make_dense_reducer(const Company& groups, int num_lanes);

/// Sums in the order of a binary tree over ranks, so that a rank adds the same pairs as several ranks do. The
/// gradients must not be read by others: sums replace them.
///
/// Cost: one bucket per lane.
std::unique_ptr<Reducer> make_tree_reducer(const Company& groups, int num_lanes);

}  // namespace cohort
