#include "reduce/reducer.h"
#include "reduce/slot_tree.h"

#include <cstring>

namespace cohort {
namespace {

class TreeReducer final : public Reducer {
 public:
  explicit TreeReducer(int num_lanes) : gathered_(static_cast<std::size_t>(num_lanes)) {}

  void reduce(const ReduceJob& job, const Consumer& consumer) override {
    reduce(job, Numbers());
    consumer(0, job.own_slice());
  }

  // The ranks of a host follow each other, so the trees of hosts are the lower part of the tree of all ranks.
  void reduce(const ReduceJob& job, Numbers /*to*/) override {
    Numbers part = job.gradients;
    if (job.groups.near() != nullptr) part = sum(job, *job.groups.near(), part);
    if (job.groups.across() != nullptr) sum(job, *job.groups.across(), part);
  }

  bool sums_in_place() const override { return true; }

  std::size_t size_bytes() const override {
    std::size_t count = 0;
    for (const std::vector<float>& bucket : gathered_) count += bucket.capacity();
    return count * sizeof(float);
  }

 private:
  // The sum over the group of this rank's part of the numbers, in place of that part.
  Numbers sum(const ReduceJob& job, Communicator& group, Numbers numbers) {
    std::vector<float>& gathered = gathered_[static_cast<std::size_t>(job.lane)];
    if (gathered.size() < numbers.count) gathered.resize(numbers.count);
    job.throw_unless(group.run(all_to_all(numbers, std::span(gathered).first(numbers.count))));
    const std::size_t count = numbers.count / static_cast<std::size_t>(group.size());
    std::vector<float*> parts;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(group.size()); ++rank) {
      parts.push_back(gathered.data() + count * rank);
    }
    sum_as_tree(parts, count);
    const Numbers own = numbers.slice(count * static_cast<std::size_t>(group.rank()), count);
    std::memcpy(own.data, gathered.data(), own.size_bytes());
    return own;
  }

  std::vector<std::vector<float>> gathered_;  // per lane: the gradients of all ranks of a group
};

}  // namespace

std::unique_ptr<Reducer> make_tree_reducer(int num_lanes) {
  return std::make_unique<TreeReducer>(num_lanes);
}

}  // namespace cohort
