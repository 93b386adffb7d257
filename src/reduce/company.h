#pragma once

#include "comm/group/communicator.h"
#include "layout/host_grid.h"

#include <cstddef>
#include <memory>
#include <string>

namespace cohort {

/// When the ranks of each host form a group of their own.
enum class NearGroups {
  kByHost,   ///< if all hosts have equally many ranks
  kInOrder,  ///< if, besides, the ranks of each host follow each other: sums of a tree over all ranks keep
             ///< their bits
};

/// The groups of ranks that one user (a lane, a DataParallel) communicates with, by purpose. The ranks of
/// several hosts form a grid: a reduce-scatter among the near ranks and one across hosts give each rank the
/// sum of one shard, and only 1/n of the numbers of a host of n ranks leaves it by each rank.
///
/// Threads: one at a time; abort() from any.
/// Lifetime: the group must outlive it.
/// Failure: the constructor throws what the group reports.
/// Cost: up to three splits of the group.
class Company {
 public:
  /// All ranks of the group construct it together; `name` is that of its groups.
  Company(Communicator& group, const std::string& name, NearGroups rule);
  Company(Company&& other) noexcept = default;

  /// All ranks.
  Communicator& all() const { return *all_; }
  /// The ranks of this host, which share memory. Null if this rank is alone there, if ranks share no memory,
  /// and if hosts have different numbers of ranks.
  Communicator* near() const { return near_.get(); }
  /// The ranks in this rank's place on all hosts; all ranks, if there are no near ranks. Null if all ranks
  /// are near, or this rank is alone.
  Communicator* across() const { return across_.get(); }

  int rank() const { return all_->rank(); }
  int size() const { return all_->size(); }
  int global_rank(int rank) const { return all_->global_rank(rank); }
  /// The shard of this rank, of size() shards.
  int shard() const { return grid_.shard(); }
  /// True if numbers are reduced in memory only.
  bool is_on_one_host() const { return across_ == nullptr; }

  /// Gathers the shards of all ranks into `whole`; `own` may be the part of `whole` at shard().
  Status all_gather(ConstNumbers own, Numbers whole) const;
  /// The mean of the numbers of all ranks, on every rank. `from` may be `to`. On several hosts with several
  /// ranks each, the mean over hosts of the means over their ranks. A failure ends the calls of all groups.
  Status mean(ConstNumbers from, Numbers to) const;
  /// The part of `whole` that the near ranks reduce by this rank: its shard and those of across().
  Numbers near_part(Numbers whole) const;

  void abort(const Error& cause) const;
  void set_trace(const std::shared_ptr<comm::CallTrace>& trace);

 private:
  Status mean_by_host(ConstNumbers from, Numbers to) const;

  HostGrid grid_;
  std::unique_ptr<Communicator> near_;
  std::unique_ptr<Communicator> across_;
  std::unique_ptr<Communicator> own_all_;  // null: one of the other two has all ranks
  Communicator* all_ = nullptr;
};

/// The grid of a group whose ranks are on these hosts, as a Company uses it. `hosts` as
/// Communicator::hosts().
HostGrid company_grid(std::span<const int> hosts, int rank, int size, NearGroups rule);

}  // namespace cohort
