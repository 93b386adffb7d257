#include "train/sharded_update.h"

#include "base/check.h"
#include "base/result.h"

#include <algorithm>

namespace cohort::train {
namespace {

/// The elements in both slices.
BucketSlice common_part(const BucketSlice& a, const BucketSlice& b) {
  const std::size_t first = std::max(a.first, b.first);
  const std::size_t last = std::min(a.first + a.count, b.first + b.count);
  return {first, last > first ? last - first : 0};
}

}  // namespace

ShardedUpdate::ShardedUpdate(BucketSet& buckets, std::vector<ParameterUpdate> updates, int rank, int world)
    : buckets_(buckets), updates_(std::move(updates)), rank_(rank), world_(world) {
  COHORT_CHECK_EQ(updates_.size(), buckets_.parameters().size());
  moments_ = empty_moments(buckets_.layout());
}

std::vector<ShardedUpdate::Moments> ShardedUpdate::empty_moments(const BucketLayout& layout) const {
  std::vector<Moments> all;
  for (const Bucket& bucket : layout.buckets) {
    int kept = 0;
    for (const BucketEntry& entry : bucket.entries) {
      kept = std::max(kept, num_moments(updates_[entry.parameter].optimizer));
    }
    all.emplace_back(static_cast<std::size_t>(kept), std::vector<float>(own_slice(bucket).count, 0.0f));
  }
  return all;
}

void ShardedUpdate::update(std::size_t index, BucketSlice piece, const float* gradients,
                           std::span<const std::uint8_t> used) {
  const Bucket& bucket = buckets_.layout().buckets[index];
  const BucketSlice slice = own_slice(bucket);
  for (std::size_t e = 0; e < bucket.entries.size(); ++e) {
    const BucketEntry& entry = bucket.entries[e];
    const BucketSlice run = common_part({entry.first, entry.count}, piece);
    if (run.count == 0 || used[e] == 0) continue;
    update_run(updates_[entry.parameter], moments_[index], run.first - slice.first, run,
               gradients + (run.first - piece.first));
  }
}

// `moment` is the index of the run's first moment.
void ShardedUpdate::update_run(const ParameterUpdate& how, Moments& moments, std::size_t moment,
                               BucketSlice run, const float* gradients) {
  const auto moments_of_run = [&](std::size_t which) {
    return which < static_cast<std::size_t>(num_moments(how.optimizer)) ? moments[which].data() + moment
                                                                        : nullptr;
  };
  cohort::apply(how.optimizer,
                {.count = how.count + 1,
                 .learning_rate = terms_.learning_rate * how.rate_factor,
                 .gradient_scale = terms_.gradient_scale,
                 .clip_value = terms_.clip_value},
                {.parameters = reinterpret_cast<float*>(buckets_.all_values().data) + run.first,
                 .gradients = gradients,
                 .first = moments_of_run(0),
                 .second = moments_of_run(1),
                 .count = run.count});
}

void ShardedUpdate::move_to(const BucketLayout& layout, const Company& groups, Arena& arena) {
  std::vector<Moments> moved = empty_moments(layout);
  if (moment_bytes() > 0) {
    const std::size_t size_bytes = std::max<std::size_t>(buckets_.layout().count, 1) * sizeof(float);
    const ArenaBlock lent = value_or_throw(arena.allocate(size_bytes).within("no room to move the moments"));
    std::size_t most = 0;
    for (const Moments& moments : moments_) most = std::max(most, moments.size());
    for (std::size_t which = 0; which < most; ++which) {
      move_moment(which, layout, groups, lent.as<float>(), moved);
    }
  }
  moments_ = std::move(moved);
}

// `all` gets the moments of all ranks, in the old layout.
void ShardedUpdate::move_moment(std::size_t which, const BucketLayout& layout, const Company& groups,
                                std::span<float> all, std::vector<Moments>& to) {
  const auto& buckets = buckets_.layout().buckets;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    if (moments_[b].size() <= which) continue;
    const std::span<float> whole = all.subspan(buckets[b].first, buckets[b].count);
    value_or_throw(groups.all_gather(std::span<const float>(moments_[b][which]), whole));
  }
  for (std::size_t b = 0; b < layout.buckets.size(); ++b) {
    if (to[b].size() <= which) continue;
    const BucketSlice slice = own_slice(layout.buckets[b]);
    for (const BucketEntry& entry : layout.buckets[b].entries) {
      const BucketSlice run = common_part({entry.first, entry.count}, slice);
      const bool is_kept = which < static_cast<std::size_t>(num_moments(updates_[entry.parameter].optimizer));
      if (run.count == 0 || !is_kept) continue;
      const std::size_t from =
          buckets_.elements_of(entry.parameter).first + entry.from + (run.first - entry.first);
      std::copy_n(all.data() + from, run.count, to[b][which].data() + (run.first - slice.first));
    }
  }
}

std::size_t ShardedUpdate::moment_bytes() const {
  std::size_t count = 0;
  for (const Moments& moments : moments_) {
    for (const std::vector<float>& moment : moments) count += moment.size();
  }
  return count * sizeof(float);
}

}  // namespace cohort::train
