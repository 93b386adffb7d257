#include "train/reducer.h"

#include <fmt/format.h>

namespace cohort::train {
namespace {

void throw_unless(Status status, const ReduceJob& job) {
  value_or_throw(std::move(status).within(fmt::format("bucket {} was not reduced", job.bucket)));
}

class DenseReducer final : public Reducer {
 public:
  DenseReducer(const Communicator& group, int num_lanes)
      : is_alone_(group.size() == 1),
        hands_over_(group.traits().zero_copy),
        results_(static_cast<std::size_t>(num_lanes)) {}

  void reduce(const ReduceJob& job, const Consumer& consumer) override {
    if (is_alone_) return consumer(0, job.gradients);
    throw_unless(job.group.run(reduce_scatter(job.gradients, output_of(job)).handed_to(consumer)), job);
  }

  void reduce(const ReduceJob& job, Numbers to) override {
    if (is_alone_) return;
    throw_unless(job.group.run(reduce_scatter(job.gradients, to)), job);
  }

  bool sums_in_place() const override { return is_alone_; }

  std::size_t size_bytes() const override {
    std::size_t count = 0;
    for (const std::vector<float>& result : results_) count += result.capacity();
    return count * sizeof(float);
  }

 private:
  // In shared memory pieces are summed in the cache and the output is not written. Elsewhere the output is
  // written before the consumer gets it, and must not be an adopted gradient, which backward may still read.
  Numbers output_of(const ReduceJob& job) {
    const Numbers slice = job.own_slice();
    if (hands_over_) return slice;
    std::vector<float>& result = results_[static_cast<std::size_t>(job.lane)];
    if (result.size() < slice.count) result.resize(slice.count);
    return Numbers(std::span(result)).slice(0, slice.count);
  }

  const bool is_alone_;
  const bool hands_over_;
  std::vector<std::vector<float>> results_;  // per lane
};

}  // namespace

std::unique_ptr<Reducer> make_dense_reducer(const Communicator& group, int num_lanes) {
  return std::make_unique<DenseReducer>(group, num_lanes);
}

}  // namespace cohort::train
