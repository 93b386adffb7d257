#include "train/lock_step.h"

#include "base/check.h"
#include "train/slot_tree.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace cohort::train {
namespace {

float* floats(const Numbers& numbers) {
  return reinterpret_cast<float*>(numbers.data);
}

const float* floats(const ConstNumbers& numbers) {
  return reinterpret_cast<const float*>(numbers.data);
}

/// The elements in both slices.
BucketSlice common_part(const BucketSlice& a, const BucketSlice& b) {
  const std::size_t first = std::max(a.first, b.first);
  const std::size_t last = std::min(a.first + a.count, b.first + b.count);
  return {first, last > first ? last - first : 0};
}

std::span<const float> float_span(const Numbers& numbers) {
  return {floats(numbers), numbers.count};
}

}  // namespace

LockStep::LockStep(Communicator& group, BucketSet& buckets, std::vector<ParameterUpdate> updates,
                   Summation summation)
    : group_(group),
      buckets_(buckets),
      updates_(std::move(updates)),
      summation_(summation),
      touched_(updates_.size(), 0),
      used_(updates_.size(), 0) {
  COHORT_CHECK_EQ(updates_.size(), buckets_.parameters().size());
  moments_ = empty_moments(buckets_.layout());
  reduced_.resize(buckets_.layout().buckets.size());
}

std::vector<LockStep::Moments> LockStep::empty_moments(const BucketLayout& layout) const {
  std::vector<Moments> all;
  for (const Bucket& bucket : layout.buckets) {
    int kept = 0;
    for (const BucketEntry& entry : bucket.entries) {
      kept = std::max(kept, num_moments(updates_[entry.parameter].optimizer));
    }
    const std::size_t count = slice_of(bucket, group_.rank(), group_.size()).count;
    Moments& moments = all.emplace_back();
    if (kept > 0) moments.first.assign(count, 0.0f);
    if (kept > 1) moments.second.assign(count, 0.0f);
  }
  return all;
}

void LockStep::move_to(BucketLayout layout, ParameterMemory values, Arena& arena) {
  std::vector<Moments> moved = empty_moments(layout);
  if (moment_bytes() > 0) {
    const std::size_t size_bytes = std::max<std::size_t>(buckets_.layout().count, 1) * sizeof(float);
    const ArenaBlock lent = value_or_throw(arena.allocate(size_bytes).within("no room to move the moments"));
    move_moments(&Moments::first, layout, lent.as<float>(), moved);
    move_moments(&Moments::second, layout, lent.as<float>(), moved);
  }
  moments_ = std::move(moved);
  reduced_.assign(layout.buckets.size(), {});
  buckets_.move_to(std::move(layout), std::move(values));
}

// `all` gets the moments of all ranks, in the old layout.
void LockStep::move_moments(std::vector<float> Moments::*which, const BucketLayout& layout,
                            std::span<float> all, std::vector<Moments>& to) {
  const auto& buckets = buckets_.layout().buckets;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const std::vector<float>& mine = moments_[b].*which;
    if (mine.empty()) continue;
    const std::span<float> whole = all.subspan(buckets[b].first, buckets[b].count);
    value_or_throw(group_.run(all_gather(std::span<const float>(mine), whole)));
  }
  for (std::size_t b = 0; b < layout.buckets.size(); ++b) {
    std::vector<float>& target = to[b].*which;
    if (target.empty()) continue;
    const BucketSlice slice = slice_of(layout.buckets[b], group_.rank(), group_.size());
    for (const BucketEntry& entry : layout.buckets[b].entries) {
      const BucketSlice run = common_part({entry.first, entry.count}, slice);
      const std::size_t from =
          buckets_.elements_of(entry.parameter).first + entry.from + (run.first - entry.first);
      if (run.count > 0) std::copy_n(all.data() + from, run.count, target.data() + (run.first - slice.first));
    }
  }
}

std::size_t LockStep::moment_bytes() const {
  std::size_t count = 0;
  for (const Moments& moments : moments_) count += moments.first.size() + moments.second.size();
  return count * sizeof(float);
}

std::size_t LockStep::reduced_bytes() const {
  std::size_t count = gathered_.capacity();
  for (const std::vector<float>& slice : reduced_) count += slice.capacity();
  return count * sizeof(float);
}

void LockStep::open(const StepTerms& terms) {
  terms_ = terms;
  std::fill(touched_.begin(), touched_.end(), std::uint8_t{0});
  for (std::size_t p = 0; p < touched_.size(); ++p) buckets_.release(p);  // a skipped step leaves gradients
}

void LockStep::clear_untouched(const Bucket& bucket) {
  for (const BucketEntry& entry : bucket.entries) {
    if (touched_[entry.parameter] != 0) continue;
    buckets_.provide(entry.parameter);
    const Numbers gradient = buckets_.gradients(bucket).slice(entry.first - bucket.first, entry.count);
    std::memset(gradient.data, 0, gradient.size_bytes());
  }
}

// A parameter without a gradient on any rank is not updated: neither weight decay nor momentum moves it.
void LockStep::agree_on_use(const Bucket& bucket) {
  flags_.clear();
  for (const BucketEntry& entry : bucket.entries) flags_.push_back(touched_[entry.parameter]);
  value_or_throw(group_.run(all_reduce(std::span(flags_), ReduceOp::kMax)));
  for (std::size_t i = 0; i < flags_.size(); ++i) used_[bucket.entries[i].parameter] = flags_[i];
}

void LockStep::prepare(const Bucket& bucket) {
  clear_untouched(bucket);
  agree_on_use(bucket);
}

void LockStep::reduce(int index) {
  const auto b = static_cast<std::size_t>(index);
  const Bucket& bucket = buckets_.layout().buckets[b];
  const BucketSlice slice = slice_of(bucket, group_.rank(), group_.size());
  prepare(bucket);
  if (summation_ == Summation::kByTree) return reduce_as_tree(bucket, slice);
  if (reduces_in_place()) return;
  reduced_[b].resize(slice.count);
  value_or_throw(group_.run(reduce_scatter(buckets_.gradients(bucket), std::span(reduced_[b])))
                     .within(fmt::format("bucket {} was not reduced", index)));
  release_gradients(b);
}

float* LockStep::reduced(std::size_t b) {
  if (!reduces_in_place()) return reduced_[b].data();
  const Bucket& bucket = buckets_.layout().buckets[b];
  return floats(buckets_.gradients(bucket, slice_of(bucket, group_.rank(), group_.size())));
}

void LockStep::reduce_as_tree(const Bucket& bucket, const BucketSlice& slice) {
  gathered_.resize(bucket.count);
  value_or_throw(group_.run(all_to_all(buckets_.gradients(bucket), std::span(gathered_))));
  std::vector<float*> parts;
  for (int rank = 0; rank < group_.size(); ++rank) {
    parts.push_back(gathered_.data() + slice.count * static_cast<std::size_t>(rank));
  }
  sum_as_tree(parts, slice.count);
  std::memcpy(buckets_.gradients(bucket, slice).data, gathered_.data(), slice.count * sizeof(float));
}

void LockStep::update(int index) {
  const auto b = static_cast<std::size_t>(index);
  const Bucket& bucket = buckets_.layout().buckets[b];
  const BucketSlice slice = slice_of(bucket, group_.rank(), group_.size());
  count_updates(bucket);
  update_piece(b, slice, reduced(b));
  release_gradients(b);
}

void LockStep::apply(int index) {
  if (summation_ == Summation::kByTree || group_.size() == 1) {
    reduce(index);
    return update(index);
  }
  const auto b = static_cast<std::size_t>(index);
  const Bucket& bucket = buckets_.layout().buckets[b];
  const BucketSlice slice = slice_of(bucket, group_.rank(), group_.size());
  prepare(bucket);
  count_updates(bucket);
  const Consumer consumer = [&](std::size_t first, ConstNumbers piece) {
    update_piece(b, {slice.first + first, piece.count}, floats(piece));
  };
  value_or_throw(group_
                     .run(reduce_scatter(buckets_.gradients(bucket), buckets_.gradients(bucket, slice))
                              .handed_to(consumer))
                     .within(fmt::format("bucket {} was not applied", index)));
  release_gradients(b);
}

void LockStep::count_updates(const Bucket& bucket) {
  for (const BucketEntry& entry : bucket.entries) {
    if (used_[entry.parameter] != 0 && entry.from == 0) ++updates_[entry.parameter].count;
  }
}

// `gradients` begins with the first element of the piece.
void LockStep::update_piece(std::size_t b, BucketSlice piece, const float* gradients) {
  const Bucket& bucket = buckets_.layout().buckets[b];
  const BucketSlice slice = slice_of(bucket, group_.rank(), group_.size());
  for (const BucketEntry& entry : bucket.entries) {
    const BucketSlice run = common_part({entry.first, entry.count}, piece);
    if (run.count == 0 || used_[entry.parameter] == 0) continue;
    update_run(updates_[entry.parameter], moments_[b], run.first - slice.first, run,
               gradients + (run.first - piece.first));
  }
}

// `moment` is the index of the run's first moment.
void LockStep::update_run(const ParameterUpdate& how, Moments& moments, std::size_t moment, BucketSlice run,
                          const float* gradients) {
  cohort::apply(how.optimizer,
                {.count = how.count,
                 .learning_rate = terms_.learning_rate * how.rate_factor,
                 .gradient_scale = terms_.gradient_scale,
                 .clip_value = terms_.clip_value},
                {.parameters = floats(buckets_.all_values()) + run.first,
                 .gradients = gradients,
                 .first = moments.first.empty() ? nullptr : moments.first.data() + moment,
                 .second = moments.second.empty() ? nullptr : moments.second.data() + moment,
                 .count = run.count});
}

// Releases the gradient of a parameter whose last piece is in this bucket.
void LockStep::release_gradients(std::size_t b) {
  const std::size_t parameter = buckets_.layout().buckets[b].entries.front().parameter;
  if (buckets_.buckets_of(parameter).back() == b) buckets_.release(parameter);
}

void LockStep::gather(int index) {
  const Bucket& bucket = buckets_.layout().buckets[static_cast<std::size_t>(index)];
  const BucketSlice slice = slice_of(bucket, group_.rank(), group_.size());
  value_or_throw(group_.run(all_gather(buckets_.values(slice), buckets_.values(bucket)))
                     .within(fmt::format("bucket {} was not gathered", index)));
}

void LockStep::meet() {
  value_or_throw(group_.run(barrier()));
}

double LockStep::square_sum() {
  double sum = 0;
  if (summation_ == Summation::kByTree) {
    for (std::size_t p = 0; p < buckets_.parameters().size(); ++p) {
      const BucketSlice all = buckets_.elements_of(p);
      sum += cohort::square_sum(float_span(buckets_.all_gradients().slice(all.first, all.count)));
    }
    return sum;
  }
  for (std::size_t b = 0; b < buckets_.layout().buckets.size(); ++b) {
    const BucketSlice slice = slice_of(buckets_.layout().buckets[b], group_.rank(), group_.size());
    sum += cohort::square_sum(std::span<const float>(reduced(b), slice.count));
  }
  return sum;
}

void LockStep::gather_all_gradients() {
  for (std::size_t b = 0; b < buckets_.layout().buckets.size(); ++b) gather_gradients(static_cast<int>(b));
}

void LockStep::gather_gradients(int index) {
  const auto b = static_cast<std::size_t>(index);
  const Bucket& bucket = buckets_.layout().buckets[b];
  const std::size_t count = slice_of(bucket, group_.rank(), group_.size()).count;
  value_or_throw(group_.run(all_gather(std::span<const float>(reduced(b), count), buckets_.gradients(bucket)))
                     .within(fmt::format("the gradients of bucket {} were not gathered", index)));
}

}  // namespace cohort::train
