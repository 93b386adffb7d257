#pragma once

#include "comm/group/communicator.h"

#include <memory>
#include <vector>

namespace cohort::train {

/// The communicators of the lanes of a program, each with the same ranks: lanes communicate at the same time,
/// and calls of one communicator have one order.
///
/// Threads: the communicator of a lane by one thread at a time; abort() from any; set_trace() while no call
/// runs.
/// Lifetime: the group must outlive it.
/// Failure: the constructor throws what the group reports.
/// Cost: a split of the group for each lane but the first.
class Lanes {
 public:
  /// All ranks construct it together. Lane 0 is the group itself.
  explicit Lanes(Communicator& group);

  int num_lanes() const { return 1 + num_bucket_lanes(); }
  /// The lanes for buckets: as many buckets are in flight at once.
  int num_bucket_lanes() const { return static_cast<int>(own_.size()); }
  Communicator& operator[](int lane) const;
  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }
  void abort(const Error& cause);
  void set_trace(const std::shared_ptr<comm::CallTrace>& trace);

 private:
  Communicator& group_;
  std::vector<std::unique_ptr<Communicator>> own_;  // of lanes 1, 2, …
};

/// Whether the ranks of a group reduce numbers in each other's memory, or send them.
enum class Link { kSharedMemory, kMessages };

/// The number of buckets that are in flight at once: two where messages have a latency that the second hides.
int num_bucket_lanes(int world, Link link);

}  // namespace cohort::train
