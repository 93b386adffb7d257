#include "backend.h"

#include <algorithm>

// Groups made from this one.

namespace cohort::c10d_plugin {

std::vector<std::uint64_t> CohortBackend::ranks_of_job() const {
  std::vector<std::uint64_t> ranks = options_->global_ranks_in_group;
  for (int rank = static_cast<int>(ranks.size()); rank < size_; ++rank) {
    ranks.push_back(static_cast<std::uint64_t>(rank));  // torch gives no list for the group of all ranks
  }
  return ranks;
}

c10::intrusive_ptr<::c10d::Backend> CohortBackend::split(const c10::intrusive_ptr<::c10d::Store>& store,
                                                         const std::vector<int>& ranks,
                                                         const c10::intrusive_ptr<Options>& options) {
  const auto position = std::find(ranks.begin(), ranks.end(), rank_);
  if (position == ranks.end()) return nullptr;
  const Membership membership{.store = store,
                              .rank = static_cast<int>(position - ranks.begin()),
                              .world = static_cast<int>(ranks.size()),
                              .limit = limit_of(options ? options->timeout : options_->timeout)};
  auto own = c10::make_intrusive<Options>(*(options ? options : options_));
  own->global_ranks_in_group.clear();
  for (const int rank : ranks) {
    own->global_ranks_in_group.push_back(ranks_of_job()[static_cast<std::size_t>(rank)]);
  }
  return make(membership, std::move(own));
}

c10::intrusive_ptr<::c10d::Backend> CohortBackend::merge(const c10::intrusive_ptr<::c10d::Store>& store,
                                                         const c10::intrusive_ptr<Options>& options,
                                                         const int& rank, const int& world) {
  auto own = c10::make_intrusive<Options>(*(options ? options : options_));
  own->global_ranks_in_group.clear();
  return make({.store = store, .rank = rank, .world = world, .limit = limit_of(own->timeout)},
              std::move(own));
}

}  // namespace cohort::c10d_plugin
