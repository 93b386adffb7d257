#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/team.h"

#include <vector>

namespace cohort::comm {

/// The ranks of each host. Hosts are ordered by their first ranks, the ranks of a host by number.
///
/// Threads: immutable.
class Hosts {
 public:
  explicit Hosts(const CallFacts& facts);

  int num_hosts() const { return static_cast<int>(members_.size()); }
  const std::vector<int>& members(int host) const { return members_[static_cast<std::size_t>(host)]; }
  int host_of(int rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
  /// The index of a rank among the ranks of its host.
  int position_of(int rank) const { return position_of_[static_cast<std::size_t>(rank)]; }
  int smallest() const;
  int largest() const;

  /// All ranks of the host of `rank`.
  Team local_team(int rank) const;
  /// The ranks at `position` of every host; `rank` is one of them.
  Team team_across(int position, int rank) const;

 private:
  std::vector<std::vector<int>> members_;
  std::vector<int> host_of_, position_of_;
};

}  // namespace cohort::comm
