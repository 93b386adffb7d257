#include "copies/placement.h"

#include <algorithm>
#include <map>

namespace cohort::copies {
namespace {

// The ranks host by host, those of the largest host first.
struct Row {
  std::vector<int> ranks{};
  std::size_t num_first = 0;  // ranks of the largest host
};

Row row_of(std::span<const int> hosts) {
  std::map<int, std::vector<int>> by_host;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    by_host[hosts[rank]].push_back(static_cast<int>(rank));
  }
  std::vector<std::vector<int>> groups;
  for (auto& [host, ranks] : by_host) groups.push_back(std::move(ranks));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  Row row{.num_first = groups.empty() ? 0 : groups.front().size()};
  for (const auto& ranks : groups) row.ranks.insert(row.ranks.end(), ranks.begin(), ranks.end());
  return row;
}

}  // namespace

// A shift of the row by the length of the longest host leads out of every host: forwards, because no host is
// longer; around the end, as long as that host and any other one fit into the row together.
std::vector<int> place_keepers(std::span<const int> hosts) {
  const Row row = row_of(hosts);
  const std::size_t num_ranks = hosts.size(), first = row.num_first, others = num_ranks - first;
  std::vector<int> keepers(num_ranks);
  for (std::size_t place = 0; place < num_ranks; ++place) {
    std::size_t keeper = place;
    if (others >= first) {
      keeper = (place + first) % num_ranks;
    } else if (others > 0) {
      keeper = place < first ? first + place % others : place - first;
    }
    keepers[static_cast<std::size_t>(row.ranks[place])] = row.ranks[keeper];
  }
  return keepers;
}

}  // namespace cohort::copies
