#include "base/check.h"
#include "train/abort.h"
#include "train/known_synchronizers.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <functional>

namespace cohort::train {
namespace {

float* floats(const Numbers& numbers) {
  return reinterpret_cast<float*>(numbers.data);
}

const float* floats(const ConstNumbers& numbers) {
  return reinterpret_cast<const float*>(numbers.data);
}

class LockStep final : public Synchronizer {
 public:
  explicit LockStep(const SynchronizerInputs& inputs);

  void open() override;
  /// kApply is kReduce and kUpdate, in one pass over memory if ranks share memory.
  void perform(const Action& action) override;
  /// Adds the sum of squares of the reduced gradients, of this rank's slices.
  void add_to(Tally& tally) override;
  bool is_used(std::size_t parameter) const override;
  void fit_to_layout() override;
  std::size_t size_bytes() const override;

 private:
  struct Reduction {
    std::vector<std::uint8_t> used{};  // per entry of the bucket: a rank has a gradient of it
    std::vector<float> sum{};          // of this rank's slice, from reduce to update

    bool is_used() const { return std::find(used.begin(), used.end(), std::uint8_t{1}) != used.end(); }
    void forget() { std::fill(used.begin(), used.end(), std::uint8_t{0}); }
  };

  void reduce(const Action& action);
  void prepare(const Action& action);
  void update(const Action& action);
  void apply(const Action& action);
  void gather(const Action& action);
  void gather_gradients(const Action& action);
  void clear_untouched(const Bucket& bucket);
  comm::Work agree_on_use(const Action& action);
  void with_flags(const Action& action, const std::function<void(const comm::Work& agreed)>& reduce);
  void release_gradients(const Bucket& bucket);
  ReduceJob job_of(const Action& action);
  const Bucket& bucket_of(const Action& action) const;
  float* reduced(std::size_t bucket);

  Lanes& lanes_;
  BucketSet& buckets_;
  ShardedUpdate& update_;
  const std::span<const std::uint8_t> touched_;
  const int part_;
  const std::unique_ptr<Reducer> reducer_;
  std::vector<Reduction> reductions_;                     // per bucket; empty for those of other parts
  std::vector<std::atomic<std::size_t>> num_unreleased_;  // per parameter: buckets whose gradients are needed
};

LockStep::LockStep(const SynchronizerInputs& inputs)
    : lanes_(inputs.lanes),
      buckets_(inputs.buckets),
      update_(inputs.update),
      touched_(inputs.touched),
      part_(inputs.part),
      reducer_(inputs.reducer.make(lanes_[1], lanes_.num_lanes())),
      num_unreleased_(buckets_.parameters().size()) {
  LockStep::fit_to_layout();
}

void LockStep::fit_to_layout() {
  reductions_.assign(buckets_.layout().buckets.size(), {});
  for (std::size_t b = 0; b < reductions_.size(); ++b) {
    const Bucket& bucket = buckets_.layout().buckets[b];
    if (bucket.part == part_) reductions_[b].used.assign(bucket.entries.size(), 0);
  }
}

std::size_t LockStep::size_bytes() const {
  std::size_t count = 0;
  for (const Reduction& reduction : reductions_) count += reduction.sum.capacity();
  return count * sizeof(float) + reducer_->size_bytes();
}

void LockStep::open() {
  for (Reduction& reduction : reductions_) reduction.forget();
  for (std::size_t p = 0; p < touched_.size(); ++p) {
    if (buckets_.part_of(p) != part_) continue;
    buckets_.release(p);  // a skipped step leaves gradients
    num_unreleased_[p] = buckets_.buckets_of(p).size();
  }
}

// All pieces of a parameter have the same flag.
bool LockStep::is_used(std::size_t parameter) const {
  const std::size_t b = buckets_.buckets_of(parameter).front();
  const auto& entries = buckets_.layout().buckets[b].entries;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (entries[e].parameter == parameter) return reductions_[b].used[e] != 0;
  }
  return false;
}

const Bucket& LockStep::bucket_of(const Action& action) const {
  return buckets_.layout().buckets[static_cast<std::size_t>(*action.bucket)];
}

ReduceJob LockStep::job_of(const Action& action) {
  return {.groups = lanes_[action.lane],
          .lane = action.lane,
          .gradients = buckets_.gradients(bucket_of(action)),
          .bucket = static_cast<std::size_t>(*action.bucket)};
}

void LockStep::perform(const Action& action) {
  switch (action.verb) {
    case Verb::kReduce:
      return reduce(action);
    case Verb::kPrepare:
      return prepare(action);
    case Verb::kUpdate:
      return update(action);
    case Verb::kApply:
      return apply(action);
    case Verb::kGather:
      return gather(action);
    case Verb::kGatherGradients:
      return gather_gradients(action);
    default:
      COHORT_CHECK(false, "{}", action.text());
  }
}

void LockStep::clear_untouched(const Bucket& bucket) {
  for (const BucketEntry& entry : bucket.entries) {
    if (touched_[entry.parameter] != 0) continue;
    buckets_.provide(entry.parameter);
    const Numbers gradient = buckets_.gradients(bucket).slice(entry.first - bucket.first, entry.count);
    std::memset(gradient.data, 0, gradient.size_bytes());
  }
}

// A parameter without a gradient on any rank is not updated: neither weight decay nor momentum moves it. In
// shared memory the flags are agreed on at once. Between hosts they travel while the gradients do, and cost
// no latency of their own.
comm::Work LockStep::agree_on_use(const Action& action) {
  const Bucket& bucket = bucket_of(action);
  const Company& groups = lanes_[action.lane];
  std::vector<std::uint8_t>& used = reductions_[static_cast<std::size_t>(*action.bucket)].used;
  for (std::size_t e = 0; e < used.size(); ++e) used[e] = touched_[bucket.entries[e].parameter];
  const Call call = all_reduce(std::span(used), ReduceOp::kMax);
  if (!groups.is_on_one_host()) return groups.all().start(call);
  value_or_throw(groups.all().run(call));
  return comm::Work::finished({});
}

// A call in flight writes to the flags: a failed reduction must not leave it behind.
void LockStep::with_flags(const Action& action, const std::function<void(const comm::Work& agreed)>& reduce) {
  clear_untouched(bucket_of(action));
  const comm::Work agreed = agree_on_use(action);
  try {
    reduce(agreed);
    value_or_throw(agreed.wait());
  } catch (const std::exception& error) {
    abort_with(lanes_, error);
    (void)agreed.wait();
    throw;
  }
}

void LockStep::reduce(const Action& action) {
  const Bucket& bucket = bucket_of(action);
  std::vector<float>& sum = reductions_[static_cast<std::size_t>(*action.bucket)].sum;
  if (!reducer_->sums_in_place()) sum.resize(update_.own_slice(bucket).count);
  with_flags(action, [&](const comm::Work&) { reducer_->reduce(job_of(action), Numbers(std::span(sum))); });
  const auto b = static_cast<std::size_t>(*action.bucket);
  update_.mask_gradients(b, update_.own_slice(bucket), reduced(b));
  if (!reducer_->sums_in_place()) release_gradients(bucket);
}

float* LockStep::reduced(std::size_t b) {
  if (!reducer_->sums_in_place()) return reductions_[b].sum.data();
  const Bucket& bucket = buckets_.layout().buckets[b];
  return floats(buckets_.gradients(bucket, update_.own_slice(bucket)));
}

void LockStep::prepare(const Action& action) {
  const auto b = static_cast<std::size_t>(*action.bucket);
  update_.prepare(b, reductions_[b].is_used() ? reduced(b) : nullptr, reductions_[b].used);
}

void LockStep::update(const Action& action) {
  const auto b = static_cast<std::size_t>(*action.bucket);
  const Bucket& bucket = bucket_of(action);
  update_.update(b, update_.own_slice(bucket), reduced(b), reductions_[b].used);
  if (reducer_->sums_in_place()) release_gradients(bucket);
}

void LockStep::apply(const Action& action) {
  const auto b = static_cast<std::size_t>(*action.bucket);
  const Bucket& bucket = bucket_of(action);
  const std::size_t first_of_slice = update_.own_slice(bucket).first;
  with_flags(action, [&](const comm::Work& agreed) {
    reducer_->reduce(job_of(action), [&](std::size_t first, ConstNumbers piece) {
      value_or_throw(agreed.wait());
      update_.update(b, {first_of_slice + first, piece.count}, floats(piece), reductions_[b].used);
    });
  });
  release_gradients(bucket);
}

// Releases the gradient of a parameter whose other pieces are released as well. Buckets that several
// parameters share have no gradients to release.
void LockStep::release_gradients(const Bucket& bucket) {
  const std::size_t parameter = bucket.entries.front().parameter;
  if (--num_unreleased_[parameter] == 0) buckets_.release(parameter);
}

// Ranks of a host that share one copy gather the parts of it that they have updated, each its own.
void LockStep::gather(const Action& action) {
  const Bucket& bucket = bucket_of(action);
  const Company& groups = lanes_[action.lane];
  const Numbers own = buckets_.values(bucket, update_.own_slice(bucket)), whole = buckets_.values(bucket);
  Status gathered = buckets_.has_common_values()
                        ? groups.across()->run(all_gather(own, groups.near_part(whole)))
                        : groups.all_gather(own, whole);
  value_or_throw(std::move(gathered).within(fmt::format("bucket {} was not gathered", *action.bucket)));
}

// Slices and parameters begin at multiples of 16 elements, and elements between parameters are 0: the sum is
// the same for every layout and every number of ranks. A bucket that nobody used has no gradients but 0, or
// was not reduced in this step.
void LockStep::add_to(Tally& tally) {
  for (std::size_t b = 0; b < reductions_.size(); ++b) {
    if (!reductions_[b].is_used()) continue;
    add_squares({reduced(b), update_.own_slice(buckets_.layout().buckets[b]).count}, tally.square_sum);
  }
}

void LockStep::gather_gradients(const Action& action) {
  const Bucket& bucket = bucket_of(action);
  const std::size_t count = update_.own_slice(bucket).count;
  const float* sum = reduced(static_cast<std::size_t>(*action.bucket));
  value_or_throw(lanes_[action.lane]
                     .all_gather(std::span<const float>(sum, count), buckets_.gradients(bucket))
                     .within(fmt::format("the gradients of bucket {} were not gathered", *action.bucket)));
}

}  // namespace

std::unique_ptr<Synchronizer> make_lock_step(const SynchronizerInputs& inputs) {
  return std::make_unique<LockStep>(inputs);
}

}  // namespace cohort::train
