#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/team.h"

#include <vector>

namespace cohort::comm {

/// Who shares a host with whom. Hosts are in the order of their first ranks, ranks of a host in theirs.
class Hosts {
 public:
  explicit Hosts(const CallFacts& facts);

  int num_hosts() const { return static_cast<int>(members_.size()); }
  const std::vector<int>& members(int host) const { return members_[static_cast<std::size_t>(host)]; }
  int host_of(int rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
  /// The position of a rank on its host.
  int position_of(int rank) const { return position_of_[static_cast<std::size_t>(rank)]; }
  int smallest() const;
  int largest() const;

  /// The ranks of this rank's host.
  Team local_team(int rank) const;
  /// The ranks at this position of every host; `rank` is one of them.
  Team lane(int position, int rank) const;

 private:
  std::vector<std::vector<int>> members_;
  std::vector<int> host_of_, position_of_;
};

}  // namespace cohort::comm
