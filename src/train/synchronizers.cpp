#include "train/synchronizers.h"

#include "base/result.h"
#include "train/known_synchronizers.h"

#include <algorithm>

namespace cohort::train {

std::span<const SynchronizerKind> synchronizer_kinds() {
  static const SynchronizerKind kKinds[] = {
      {"lock_step", kLockStepActions, make_lock_step},
  };
  return kKinds;
}

Synchronizers::Synchronizers(Lanes& lanes, BucketSet& buckets, std::vector<ParameterUpdate> updates,
                             const SyncPlan& plan)
    : lanes_(lanes),
      buckets_(buckets),
      part_of_(plan.part_of),
      touched_(part_of_.size(), 0),
      update_(buckets, std::move(updates), lanes[1].shard(), lanes.size()) {
  for (const SyncPlan::Part& part : plan.parts) {
    all_.push_back(part.synchronizer->make({.lanes = lanes_,
                                            .buckets = buckets_,
                                            .update = update_,
                                            .reducer = *part.reducer,
                                            .touched = touched_,
                                            .part = static_cast<int>(all_.size())}));
  }
}

void Synchronizers::open(const StepTerms& terms) {
  update_.set_terms(terms);
  std::fill(touched_.begin(), touched_.end(), std::uint8_t{0});
  for (const auto& each : all_) each->open();
}

void Synchronizers::perform(const Action& action) {
  if (action.verb == Verb::kMeet) return value_or_throw(lanes_[action.lane].near()->run(barrier()));
  if (action.verb == Verb::kCombine) return update_.combine(lanes_[action.lane].all());
  const Bucket& bucket = buckets_.layout().buckets[static_cast<std::size_t>(*action.bucket)];
  all_[static_cast<std::size_t>(bucket.part)]->perform(action);
}

void Synchronizers::add_to(Tally& tally) {
  for (const auto& each : all_) each->add_to(tally);
}

void Synchronizers::close() {
  for (std::size_t p = 0; p < part_of_.size(); ++p) {
    if (is_used(p)) update_.count_step(p);
  }
  update_.count_update();
}

void Synchronizers::move_to(BucketLayout layout, ParameterMemory values, Arena& arena) {
  update_.move_to(layout, lanes_.group(), arena);
  buckets_.move_to(std::move(layout), std::move(values));
  for (const auto& each : all_) each->fit_to_layout();
}

std::size_t Synchronizers::size_bytes() const {
  std::size_t total = 0;
  for (const auto& each : all_) total += each->size_bytes();
  return total;
}

}  // namespace cohort::train
