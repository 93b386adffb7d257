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
}

std::vector<LockStep::Moments> LockStep::empty_moments(const BucketLayout& layout) const {
  std::vector<Moments> all;
  for (const Bucket& bucket : layout.buckets) {
    int kept = 0;
    for (const BucketEntry& entry : bucket.entries) {
      kept = std::max(kept, num_moments(updates_[entry.parameter].rule.kind));
    }
    const std::size_t count = slice_of(bucket, group_.rank(), group_.world()).count;
    Moments& moments = all.emplace_back();
    if (kept > 0) moments.first.assign(count, 0.0f);
    if (kept > 1) moments.second.assign(count, 0.0f);
  }
  return all;
}

void LockStep::move_to(BucketLayout layout) {
  std::vector<Moments> moved = empty_moments(layout);
  move_moments(&Moments::first, layout, moved);
  move_moments(&Moments::second, layout, moved);
  moments_ = std::move(moved);
  buckets_.move_to(std::move(layout));
}

// The gradients are used up: their memory carries everybody's moments to everybody.
void LockStep::move_moments(std::vector<float> Moments::*which, const BucketLayout& layout,
                            std::vector<Moments>& to) {
  const auto& buckets = buckets_.layout().buckets;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const std::vector<float>& mine = moments_[b].*which;
    if (mine.empty()) continue;
    const Numbers slice = buckets_.gradients(buckets[b], slice_of(buckets[b], group_.rank(), group_.world()));
    std::memcpy(slice.data, mine.data(), slice.size_bytes());
    value_or_throw(group_.run(all_gather(slice, buckets_.gradients(buckets[b]))));
  }
  for (std::size_t b = 0; b < layout.buckets.size(); ++b) {
    std::vector<float>& target = to[b].*which;
    if (target.empty()) continue;
    const BucketSlice slice = slice_of(layout.buckets[b], group_.rank(), group_.world());
    for (const BucketEntry& entry : layout.buckets[b].entries) {
      const std::size_t first = std::max(entry.first, slice.first);
      const std::size_t last = std::min(entry.first + entry.count, slice.first + slice.count);
      if (first >= last) continue;
      const std::size_t from = buckets_.place(entry.parameter).first + entry.from + (first - entry.first);
      std::memcpy(target.data() + (first - slice.first), floats(buckets_.all_gradients()) + from,
                  (last - first) * sizeof(float));
    }
  }
}

std::size_t LockStep::moment_bytes() const {
  std::size_t count = 0;
  for (const Moments& moments : moments_) count += moments.first.size() + moments.second.size();
  return count * sizeof(float);
}

void LockStep::open(const StepTerms& terms) {
  terms_ = terms;
  std::fill(touched_.begin(), touched_.end(), std::uint8_t{0});
  for (std::size_t p = 0; p < touched_.size(); ++p) buckets_.release(p);  // left by a step that was skipped
}

void LockStep::clear_untouched(const Bucket& bucket) {
  for (const BucketEntry& entry : bucket.entries) {
    if (touched_[entry.parameter] != 0) continue;
    const Numbers gradient = buckets_.gradients(bucket).slice(entry.first - bucket.first, entry.count);
    std::memset(gradient.data, 0, gradient.size_bytes());
  }
}

// A parameter that no rank used is left alone: neither decay nor momentum moves it.
void LockStep::agree_on_use(const Bucket& bucket) {
  flags_.clear();
  for (const BucketEntry& entry : bucket.entries) flags_.push_back(touched_[entry.parameter]);
  value_or_throw(group_.run(all_reduce(std::span(flags_), ReduceOp::kMax)));
  for (std::size_t i = 0; i < flags_.size(); ++i) used_[bucket.entries[i].parameter] = flags_[i];
}

void LockStep::reduce(int index) {
  const Bucket& bucket = buckets_.layout().buckets[static_cast<std::size_t>(index)];
  const BucketSlice slice = slice_of(bucket, group_.rank(), group_.world());
  clear_untouched(bucket);
  agree_on_use(bucket);
  if (summation_ == Summation::kByTree) return reduce_as_tree(bucket, slice);
  value_or_throw(group_.run(reduce_scatter(buckets_.gradients(bucket), buckets_.gradients(bucket, slice)))
                     .within(fmt::format("bucket {} was not reduced", index)));
}

void LockStep::reduce_as_tree(const Bucket& bucket, const BucketSlice& slice) {
  gathered_.resize(bucket.count);
  value_or_throw(group_.run(all_to_all(buckets_.gradients(bucket), std::span(gathered_))));
  std::vector<float*> parts;
  for (int rank = 0; rank < group_.world(); ++rank) {
    parts.push_back(gathered_.data() + slice.count * static_cast<std::size_t>(rank));
  }
  sum_as_tree(parts, slice.count);
  std::memcpy(buckets_.gradients(bucket, slice).data, gathered_.data(), slice.count * sizeof(float));
}

void LockStep::update(int index) {
  const auto b = static_cast<std::size_t>(index);
  const Bucket& bucket = buckets_.layout().buckets[b];
  const BucketSlice slice = slice_of(bucket, group_.rank(), group_.world());
  for (const BucketEntry& entry : bucket.entries) {
    if (used_[entry.parameter] == 0) continue;
    if (entry.from == 0) ++updates_[entry.parameter].count;
    update_run(bucket, entry, slice, moments_[b]);
  }
}

void LockStep::update_run(const Bucket& bucket, const BucketEntry& entry, const BucketSlice& slice,
                          Moments& moments) {
  const std::size_t first = std::max(entry.first, slice.first);
  const std::size_t last = std::min(entry.first + entry.count, slice.first + slice.count);
  if (first >= last) return;
  const ParameterUpdate& how = updates_[entry.parameter];
  const std::size_t place = first - slice.first;
  apply(how.rule,
        {.count = how.count,
         .learning_rate = terms_.learning_rate * how.rate_factor,
         .gradient_scale = terms_.gradient_scale,
         .clip_value = terms_.clip_value,
         .gradient = Gradient::kKeep},
        {.parameters = floats(buckets_.all_values()) + first,
         .gradients = floats(buckets_.gradients(bucket)) + (first - bucket.first),
         .first = moments.first.empty() ? nullptr : moments.first.data() + place,
         .second = moments.second.empty() ? nullptr : moments.second.data() + place,
         .count = last - first});
}

void LockStep::gather(int index) {
  const Bucket& bucket = buckets_.layout().buckets[static_cast<std::size_t>(index)];
  const BucketSlice slice = slice_of(bucket, group_.rank(), group_.world());
  value_or_throw(group_.run(all_gather(buckets_.values(slice), buckets_.values(bucket)))
                     .within(fmt::format("bucket {} was not gathered", index)));
  const std::size_t parameter = bucket.entries.front().parameter;
  if (buckets_.buckets_of(parameter).back() == static_cast<std::size_t>(index)) buckets_.release(parameter);
}

double LockStep::square_sum() const {
  double sum = 0;
  if (summation_ == Summation::kByTree) {
    for (std::size_t p = 0; p < buckets_.parameters().size(); ++p) {
      const BucketSlice place = buckets_.place(p);
      sum += cohort::square_sum(float_span(buckets_.all_gradients().slice(place.first, place.count)));
    }
    return sum;
  }
  for (const Bucket& bucket : buckets_.layout().buckets) {
    sum += cohort::square_sum(
        float_span(buckets_.gradients(bucket, slice_of(bucket, group_.rank(), group_.world()))));
  }
  return sum;
}

void LockStep::gather_gradients() {
  for (const Bucket& bucket : buckets_.layout().buckets) {
    const BucketSlice slice = slice_of(bucket, group_.rank(), group_.world());
    value_or_throw(group_.run(all_gather(buckets_.gradients(bucket, slice), buckets_.gradients(bucket))));
  }
}

}  // namespace cohort::train
