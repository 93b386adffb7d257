#pragma once

#include "comm/group/communicator.h"
#include "comm/shared_memory/arena.h"

#include <chrono>
#include <memory>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace cohort::c10d_plugin {

/// The rank of this process in a new process group, and the store where its ranks meet.
struct Membership {
  c10::intrusive_ptr<::c10d::Store> store;  ///< shared with earlier groups of the same name
  int rank = 0;
  int world = 1;
  std::chrono::nanoseconds limit{};  ///< timeout of joining, and default timeout of calls
};

/// A process group: over shared memory if all ranks are on one host, else over the backend that the variables
/// COHORT_* choose.
struct Joined {
  c10::intrusive_ptr<::c10d::Store> store{};  ///< for this group alone
  std::shared_ptr<Arena> arena{};
  std::unique_ptr<Communicator> group{};
};

/// Joins the process group; all its ranks must call it. The key of the connections is the one in
/// COHORT_KEY_FILE, if set. Otherwise rank 0 makes a key and puts it into the store: any process that can
/// read the store can join.
///
/// Failure: kTimedOut names the ranks that are missing.
/// Cost: four rounds through the store; one arena for each group.
Result<Joined> join(const Membership& membership);

}  // namespace cohort::c10d_plugin
