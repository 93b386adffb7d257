#include "comm/schedule/hosts.h"

#include "base/check.h"

#include <algorithm>
#include <map>

namespace cohort::comm {

Hosts::Hosts(const CallFacts& facts) {
  COHORT_CHECK(facts.hosts.empty() || facts.hosts.size() == static_cast<std::size_t>(facts.world));
  std::map<int, int> numbers;
  for (int rank = 0; rank < facts.world; ++rank) {
    const int label = facts.hosts.empty() ? 0 : facts.hosts[static_cast<std::size_t>(rank)];
    const int host = numbers.try_emplace(label, num_hosts()).first->second;
    if (host == num_hosts()) members_.emplace_back();
    std::vector<int>& ranks = members_[static_cast<std::size_t>(host)];
    host_of_.push_back(host);
    position_of_.push_back(static_cast<int>(ranks.size()));
    ranks.push_back(rank);
  }
}

int Hosts::smallest() const {
  const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  return static_cast<int>(std::min_element(members_.begin(), members_.end(), fewer)->size());
}

int Hosts::largest() const {
  const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  return static_cast<int>(std::max_element(members_.begin(), members_.end(), fewer)->size());
}

Team Hosts::local_team(int rank) const {
  return {.ranks = members(host_of(rank)), .me = position_of(rank)};
}

Team Hosts::team_across(int position, int rank) const {
  Team team{.ranks = {}, .me = host_of(rank)};
  for (const auto& ranks : members_) team.ranks.push_back(ranks[static_cast<std::size_t>(position)]);
  return team;
}

}  // namespace cohort::comm
