#pragma once

#include "comm/group/communicator.h"
#include "train/action_trace.h"
#include <cohort/trace.h>

#include <memory>

namespace cohort::train {

class Replica;

/// Records the actions of a replica and the calls of its communicators while it lives.
///
/// Threads: one at a time; records() while no step runs.
/// Lifetime: must be destroyed before the next step of the replica, or after the replica.
/// Cost: memory for `capacity` actions of each lane and as many calls.
class TrainerTrace {
 public:
  TrainerTrace(Replica& replica, std::size_t capacity);

  Trace records() const;
  /// Ends the record of the calls of this group, unless another trace has taken its place.
  void leave(Communicator& group) const;

 private:
  ActionTrace actions_;
  const std::shared_ptr<comm::CallTrace> calls_;
};

}  // namespace cohort::train
