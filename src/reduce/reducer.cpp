#include "reduce/reducer.h"

#include "base/result.h"

#include <fmt/format.h>

namespace cohort {

Numbers ReduceJob::own_slice() const {
  const std::size_t count = gradients.count / static_cast<std::size_t>(groups.size());
  return gradients.slice(count * static_cast<std::size_t>(groups.shard()), count);
}

void ReduceJob::throw_unless(Status status) const {
  value_or_throw(std::move(status).within(fmt::format("bucket {} was not reduced", bucket)));
}

std::unique_ptr<Reducer> make_reducer(Summation summation, const Company& groups, int num_lanes) {
  switch (summation) {
    case Summation::kByRank:
      return make_dense_reducer(groups, num_lanes);
    case Summation::kByTree:
      return make_tree_reducer(num_lanes);
  }
  return nullptr;
}

NearGroups near_groups(Summation summation) {
  return summation == Summation::kByTree ? NearGroups::kInOrder : NearGroups::kByHost;
}

}  // namespace cohort
