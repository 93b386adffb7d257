#include "reduce/reducer.h"

namespace cohort {
namespace {

/// Memory that grows with the largest request.
Numbers at_least(std::vector<float>& memory, std::size_t count) {
  if (memory.size() < count) memory.resize(count);
  return Numbers(std::span(memory)).slice(0, count);
}

std::size_t capacity_of(const std::vector<std::vector<float>>& memories) {
  std::size_t count = 0;
  for (const std::vector<float>& memory : memories) count += memory.capacity();
  return count;
}

class DenseReducer final : public Reducer {
 public:
  DenseReducer(const Company& groups, int num_lanes)
      : is_alone_(groups.size() == 1),
        hands_over_(groups.is_on_one_host() && groups.all().traits().zero_copy),
        near_sums_(static_cast<std::size_t>(num_lanes)),
        results_(static_cast<std::size_t>(num_lanes)) {}

  void reduce(const ReduceJob& job, const Consumer& consumer) override {
    if (is_alone_) return consumer(0, job.gradients);
    job.throw_unless(last_of(job).run(reduce_scatter(near_sum(job), output_of(job)).handed_to(consumer)));
  }

  void reduce(const ReduceJob& job, Numbers to) override {
    if (is_alone_) return;
    job.throw_unless(last_of(job).run(reduce_scatter(near_sum(job), to)));
  }

  bool sums_in_place() const override { return is_alone_; }

  std::size_t size_bytes() const override {
    return (capacity_of(near_sums_) + capacity_of(results_)) * sizeof(float);
  }

 private:
  /// The group that makes the last sum.
  static Communicator& last_of(const ReduceJob& job) {
    return job.groups.across() != nullptr ? *job.groups.across() : *job.groups.near();
  }

  /// On several hosts, the sums over the ranks of this host; otherwise the gradients.
  Numbers near_sum(const ReduceJob& job) {
    if (job.groups.near() == nullptr || job.groups.across() == nullptr) return job.gradients;
    const std::size_t count = job.groups.near_part(job.gradients).count;
    const Numbers sum = at_least(near_sums_[static_cast<std::size_t>(job.lane)], count);
    job.throw_unless(job.groups.near()->run(reduce_scatter(job.gradients, sum)));
    return sum;
  }

  // In shared memory pieces are summed in the cache and the output is not written. Elsewhere the output is
  // written before the consumer gets it, and must not be an adopted gradient, which backward may still read.
  Numbers output_of(const ReduceJob& job) {
    const Numbers slice = job.own_slice();
    return hands_over_ ? slice : at_least(results_[static_cast<std::size_t>(job.lane)], slice.count);
  }

  const bool is_alone_;
  const bool hands_over_;
  std::vector<std::vector<float>> near_sums_;  // per lane
  std::vector<std::vector<float>> results_;    // per lane
};

}  // namespace

std::unique_ptr<Reducer> make_dense_reducer(const Company& groups, int num_lanes) {
  return std::make_unique<DenseReducer>(groups, num_lanes);
}

}  // namespace cohort
