#pragma once

#include "reduce/company.h"

#include <memory>
#include <vector>

namespace cohort {

/// The groups of the lanes of a program: lanes communicate at the same time, and calls of one communicator
/// have one order. Lane 0, which computes, calls the group itself; every lane of buckets has a Company of its
/// own.
///
/// Threads: the groups of a lane by one thread at a time; abort() from any; set_trace() while no call runs.
/// Lifetime: the group must outlive it.
/// Failure: the constructor throws what the group reports.
/// Cost: a Company for each lane but the first.
class Lanes {
 public:
  /// All ranks construct it together.
  Lanes(Communicator& group, NearGroups rule);

  int num_lanes() const { return 1 + num_bucket_lanes(); }
  /// The lanes for buckets: as many buckets are in flight at once.
  int num_bucket_lanes() const { return static_cast<int>(own_.size()); }
  /// The group of all ranks, for lane 0.
  Communicator& group() const { return group_; }
  /// The groups of a lane of buckets: 1, 2, …
  const Company& operator[](int lane) const;
  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }
  int global_rank(int rank) const { return group_.global_rank(rank); }
  /// Further groups of ranks that steps use, each of which must outlive this: abort() and set_trace() reach
  /// them, too.
  void also_use(std::vector<Communicator*> others) { others_ = std::move(others); }
  void abort(const Error& cause);
  void set_trace(const std::shared_ptr<comm::CallTrace>& trace);

 private:
  Communicator& group_;
  std::vector<Company> own_;  // of lanes 1, 2, …
  std::vector<Communicator*> others_;
};

/// The number of buckets that are in flight at once: two where messages have a latency that the second hides.
int num_bucket_lanes(const HostGrid& grid);

}  // namespace cohort
