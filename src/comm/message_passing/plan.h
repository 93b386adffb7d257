#pragma once

#include "comm/schedule/choice.h"

#include <optional>
#include <vector>

namespace cohort::comm {

/// How collective calls become schedules. Must be the same on all ranks.
struct PlanOptions {
  /// The algorithm of every call that it can run; not set: the one that is predicted to be fastest. For
  /// gather, scatter and calls that it cannot run, the fastest is chosen as well.
  std::optional<CollectiveAlgorithm> algorithm{};
  Prices prices{};
  /// The host of each rank of the group. Empty: unknown; then prices are those of one host, and `wire`
  /// applies between all ranks.
  std::vector<int> hosts{};
  /// The longest message of all_reduce, reduce and reduce_scatter; longer ones are cut into chunks. Not set:
  /// the length that is predicted to be fastest.
  std::optional<std::size_t> chunk_bytes{};
  /// The dtype on the wire of f32, bf16 and f16 in all_reduce, reduce and reduce_scatter between hosts.
  /// Inside a host, and for other dtypes and operations, numbers are sent as they are.
  WireDType wire = WireDType::kSame;
};

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
