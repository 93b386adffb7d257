#pragma once

#include "comm/communicator.h"
#include "comm/shared_memory/arena.h"

#include <chrono>
#include <memory>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace cohort::c10d_plugin {

/// Who is to meet whom.
struct Place {
  c10::intrusive_ptr<::c10d::Store> store;  ///< of this group, and of earlier ones of the same name
  int rank = 0;
  int world = 1;
  std::chrono::nanoseconds limit{};  ///< of the meeting, and of calls that have none
};

/// The ranks of a process group that have met: over shared memory where all are on one host, else as the
/// variables COHORT_* say.
struct Joined {
  c10::intrusive_ptr<::c10d::Store> store{};  ///< of this group alone
  std::shared_ptr<Arena> arena{};
  std::unique_ptr<Communicator> group{};
};

/// Every rank of the group calls it. The key that keeps strangers out is the one COHORT_KEY_FILE names, else
/// rank 0 makes one and lays it into the store: whoever can read the store can join the job.
///
/// Failure: kTimedOut names who has not come.
/// Cost: four rounds through the store; one arena for each group.
Result<Joined> join(const Place& place);

}  // namespace cohort::c10d_plugin
