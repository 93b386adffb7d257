#include "copies/keepers.h"

#include <algorithm>
#include <numeric>

namespace cohort::copies {

// Ranks of one host share no memory if the user has chosen an algorithm of messages for them.
Result<Keepers> Keepers::of(Communicator& group) {
  Keepers made;
  COHORT_ASSIGN_OR_RETURN(made.all, group.split(0, group.rank(), "copies"));
  made.hosts = made.all->hosts();
  std::int32_t shares_none = made.hosts.empty() ? 1 : 0;
  if (shares_none == 0) {
    const int host = made.hosts[static_cast<std::size_t>(group.rank())];
    COHORT_ASSIGN_OR_RETURN(made.near, made.all->split(host, group.rank(), "near copies"));
    shares_none = made.near->size() > 1 && !made.near->traits().zero_copy ? 1 : 0;
    COHORT_RETURN_IF_ERROR(made.all->run(all_reduce(std::span(&shares_none, 1), ReduceOp::kMax)));
    for (int rank = 0; rank < group.size(); ++rank) {
      if (made.hosts[static_cast<std::size_t>(rank)] == host) made.near_ranks.push_back(rank);
    }
  }
  if (shares_none == 0 && made.near_ranks.size() > 1) return made;
  made.near = nullptr;
  made.near_ranks = {group.rank()};
  if (shares_none == 0) return made;
  made.hosts.resize(static_cast<std::size_t>(group.size()));
  std::iota(made.hosts.begin(), made.hosts.end(), 0);
  return made;
}

}  // namespace cohort::copies
