#pragma once

#include "comm/schedule/choice.h"

#include <string>
#include <vector>

namespace cohort::comm {

/// How collective calls become schedules. Must be the same on all ranks.
struct PlanOptions {
  /// The algorithm of every call that it can run; empty: the one that is predicted to be fastest. For gather,
  /// scatter and calls that it cannot run, the fastest is chosen as well.
  std::string algorithm{};
  Prices prices{};
  /// The host of each rank of the group. Empty: unknown; then prices are those of one host, and `wire`
  /// applies between all ranks.
  std::vector<int> hosts{};
  /// The longest message of all_reduce, reduce and reduce_scatter; longer ones are cut into chunks. 0: the
  /// length that is predicted to be fastest.
  std::size_t chunk_bytes = 0;
  /// The dtype on the wire of f32, bf16 and f16 in all_reduce, reduce and reduce_scatter between hosts.
  /// Inside a host, and for other dtypes and operations, numbers are sent as they are.
  WireDType wire = WireDType::kSame;
};

/// kUsage if there is no algorithm of that name, or if chunks are shorter than 4 KiB.
Status check_plan_options(const PlanOptions& options);

/// The properties of a collective call that the choice of an algorithm depends on.
CallFacts facts_for(const Call& call, int rank, int world, const PlanOptions& options);
/// The algorithm of a call, and its chunks.
Choice choice_for(const Call& call, const CallFacts& facts, const PlanOptions& options);
/// The schedule of this rank in a collective call.
Schedule plan(const Call& call, int rank, int world, const PlanOptions& options);

/// The dtype of partial results of the call: f32 for 16-bit floats that are combined.
DType work_dtype(const Call& call);
/// True for all_reduce, reduce and reduce_scatter.
bool is_reducing(Operation operation);

}  // namespace cohort::comm
