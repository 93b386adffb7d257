#include "train/reducer.h"

namespace cohort::train {

Numbers ReduceJob::own_slice() const {
  const std::size_t count = gradients.count / static_cast<std::size_t>(group.size());
  return gradients.slice(count * static_cast<std::size_t>(group.rank()), count);
}

std::unique_ptr<Reducer> make_reducer(Summation summation, const Communicator& group, int num_lanes) {
  switch (summation) {
    case Summation::kByRank:
      return make_dense_reducer(group, num_lanes);
    case Summation::kByTree:
      return make_tree_reducer(num_lanes);
  }
  return nullptr;
}

}  // namespace cohort::train
