#include "layout/host_grid.h"

#include <algorithm>
#include <map>
#include <vector>

namespace cohort {

std::optional<HostGrid> host_grid(std::span<const int> hosts, int rank) {
  std::map<int, std::size_t> numbers;
  std::vector<std::vector<int>> ranks_of;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    const std::size_t host = numbers.try_emplace(hosts[r], ranks_of.size()).first->second;
    if (host == ranks_of.size()) ranks_of.emplace_back();
    ranks_of[host].push_back(static_cast<int>(r));
  }
  if (ranks_of.empty()) return std::nullopt;
  HostGrid grid{.num_hosts = static_cast<int>(ranks_of.size()),
                .per_host = static_cast<int>(ranks_of.front().size())};
  for (std::size_t host = 0; host < ranks_of.size(); ++host) {
    const std::vector<int>& ranks = ranks_of[host];
    if (ranks.size() != ranks_of.front().size()) return std::nullopt;
    grid.is_in_order = grid.is_in_order && ranks.back() - ranks.front() + 1 == grid.per_host;
    const auto found = std::find(ranks.begin(), ranks.end(), rank);
    if (found == ranks.end()) continue;
    grid.host = static_cast<int>(host);
    grid.place = static_cast<int>(found - ranks.begin());
  }
  return grid;
}

}  // namespace cohort
