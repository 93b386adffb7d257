#pragma once

#include "comm/schedule/algorithm.h"

#include <string>
#include <vector>

namespace cohort::comm {

/// How collective calls become schedules. Must be the same on all ranks.
struct PlanOptions {
  /// The algorithm of every call it serves; empty: whichever is predicted to be fastest. Calls it does not
  /// serve, and gather and scatter, are chosen for as if it were empty.
  std::string algorithm{};
  Prices prices{};
  std::vector<int> hosts{};  ///< which host each rank of the group is on; empty: all on one
};

/// kUsage if there is no algorithm of that name.
Status check_plan_options(const PlanOptions& options);

/// The algorithm a call is run with.
const Algorithm& algorithm_for(const Call& call, const CallFacts& facts, const PlanOptions& options);
/// What this rank does in a collective call.
Schedule plan(const Call& call, int rank, int world, const PlanOptions& options);

/// What partial results of the call are kept in while they travel: f32 for 16-bit floats that are combined.
DType work_dtype(const Call& call);
/// True for all_reduce, reduce and reduce_scatter.
bool is_reducing(Operation operation);

}  // namespace cohort::comm
