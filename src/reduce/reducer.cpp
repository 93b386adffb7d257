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

std::span<const ReducerKind> reducer_kinds() {
  static constexpr ReducerKind kKinds[] = {
      {"dense", NearGroups::kByHost, false, make_dense_reducer},
      {"tree", NearGroups::kInOrder, true, make_tree_reducer},
  };
  return kKinds;
}

const ReducerKind& default_reducer(Summation summation) {
  return reducer_kinds()[summation == Summation::kByTree ? 1 : 0];
}

}  // namespace cohort
