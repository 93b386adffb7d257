#include "train/reducer.h"
#include "train/slot_tree.h"

#include <cstring>
#include <fmt/format.h>

namespace cohort::train {
namespace {

class TreeReducer final : public Reducer {
 public:
  explicit TreeReducer(int num_lanes) : gathered_(static_cast<std::size_t>(num_lanes)) {}

  void reduce(const ReduceJob& job, const Consumer& consumer) override {
    reduce(job, Numbers());
    consumer(0, job.own_slice());
  }

  void reduce(const ReduceJob& job, Numbers /*to*/) override {
    std::vector<float>& gathered = gathered_[static_cast<std::size_t>(job.lane)];
    gathered.resize(job.gradients.count);
    value_or_throw(job.group.run(all_to_all(job.gradients, std::span(gathered)))
                       .within(fmt::format("bucket {} was not reduced", job.bucket)));
    const Numbers slice = job.own_slice();
    std::vector<float*> parts;
    for (int rank = 0; rank < job.group.size(); ++rank) {
      parts.push_back(gathered.data() + slice.count * static_cast<std::size_t>(rank));
    }
    sum_as_tree(parts, slice.count);
    std::memcpy(slice.data, gathered.data(), slice.size_bytes());
  }

  bool sums_in_place() const override { return true; }

  std::size_t size_bytes() const override {
    std::size_t count = 0;
    for (const std::vector<float>& bucket : gathered_) count += bucket.capacity();
    return count * sizeof(float);
  }

 private:
  std::vector<std::vector<float>> gathered_;  // per lane: all ranks' gradients of this rank's slice
};

}  // namespace

std::unique_ptr<Reducer> make_tree_reducer(int num_lanes) {
  return std::make_unique<TreeReducer>(num_lanes);
}

}  // namespace cohort::train
