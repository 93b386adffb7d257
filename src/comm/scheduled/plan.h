#pragma once

#include "comm/schedule/choice.h"

#include <string>
#include <vector>

namespace cohort::comm {

/// How collective calls become schedules. Must be the same on all ranks.
struct PlanOptions {
  /// The algorithm of every call it serves; empty: whichever is predicted to be fastest. Calls it does not
  /// serve, and gather and scatter, are chosen for as if it were empty.
  std::string algorithm{};
  Prices prices{};
  /// Which host each rank of the group is on; empty: nobody knows. Then prices are those of one host, and
  /// everybody is far in the sense of `wire`.
  std::vector<int> hosts{};
  /// The longest message of all_reduce, reduce and reduce_scatter; longer ones travel in chunks. 0: whatever
  /// is predicted to be fastest.
  std::size_t chunk_bytes = 0;
  /// What f32, bf16 and f16 of all_reduce, reduce and reduce_scatter travel as between hosts. Inside a host,
  /// and for other types and operations, nothing changes.
  WireDType wire = WireDType::kSame;
};

/// kUsage if there is no algorithm of that name, or if chunks are asked for that are shorter than 4 KiB.
Status check_plan_options(const PlanOptions& options);

/// What is known of a collective call before it is decided how to run it.
CallFacts facts_for(const Call& call, int rank, int world, const PlanOptions& options);
/// The algorithm a call is run with, and its chunks.
Choice choice_for(const Call& call, const CallFacts& facts, const PlanOptions& options);
/// What this rank does in a collective call.
Schedule plan(const Call& call, int rank, int world, const PlanOptions& options);

/// What partial results of the call are kept in while they travel: f32 for 16-bit floats that are combined.
DType work_dtype(const Call& call);
/// True for all_reduce, reduce and reduce_scatter.
bool is_reducing(Operation operation);

}  // namespace cohort::comm
