#include "layout/step_builder.h"

#include "base/check.h"

#include <algorithm>

namespace cohort {

StepBuilder::StepBuilder(const StepShape& shape) : shape_(shape) {
  program_.num_lanes = 1 + std::max(shape.bucket_lanes, 1);
  last_of_lane_.resize(static_cast<std::size_t>(program_.num_lanes));
}

std::size_t StepBuilder::add(Action action) {
  const auto lane = static_cast<std::size_t>(action.lane);
  last_of_lane_[lane] = program_.add(std::move(action));
  return *last_of_lane_[lane];
}

std::size_t StepBuilder::add_fill(int bucket) {
  return program_.add({.verb = Verb::kFill, .lane = lane_of(bucket), .bucket = bucket});
}

std::size_t StepBuilder::weighed() {
  if (!weighed_) {
    Action action{.verb = Verb::kWeigh, .lane = 1};
    if (last_forward_) action.after = {*last_forward_};
    weighed_ = add(std::move(action));
  }
  return *weighed_;
}

std::vector<std::size_t> StepBuilder::ends_of_lanes() const {
  std::vector<std::size_t> ends;
  for (std::size_t lane = 1; lane < last_of_lane_.size(); ++lane) {
    if (last_of_lane_[lane]) ends.push_back(*last_of_lane_[lane]);
  }
  return ends;
}

std::optional<int> StepBuilder::named(int stage) const {
  return shape_.num_stages > 1 ? std::optional(stage) : std::nullopt;
}

void StepBuilder::compute() {
  for (const int micro_batch : shape_.micro_batches) {
    add({.verb = Verb::kLoad, .micro_batch = micro_batch});
    for (int stage = 0; stage < shape_.num_stages; ++stage) {
      last_forward_ = add({.verb = Verb::kForward, .stage = named(stage), .micro_batch = micro_batch});
    }
    for (int stage = shape_.num_stages - 1; stage >= 0; --stage) {
      add({.verb = Verb::kBackward, .stage = named(stage), .micro_batch = micro_batch});
    }
  }
}

std::size_t StepBuilder::vote() {
  return program_.add({.verb = Verb::kVote, .lane = kComputeLane, .after = ends_of_lanes()});
}

// Moments advance after the vote, so that a step that is skipped leaves them as they are.
std::size_t StepBuilder::combine(std::size_t vote) {
  const bool has_any = std::any_of(shape_.two_passes.begin(), shape_.two_passes.end(),
                                   [](std::uint8_t each) { return each != 0; });
  if (!has_any) return vote;
  COHORT_CHECK(shape_.update == UpdateTime::kAfterVote, "two passes in an update before the vote");
  for (int bucket = 0; bucket < shape_.num_buckets; ++bucket) {
    if (shape_.two_passes[static_cast<std::size_t>(bucket)] == 0) continue;
    add({.verb = Verb::kPrepare, .lane = lane_of(bucket), .bucket = bucket, .after = {vote}});
  }
  return add({.verb = Verb::kCombine, .lane = 1, .after = ends_of_lanes()});
}

// Under kWhenReduced a rank votes after its updates, so the vote is a barrier too.
void StepBuilder::finish() {
  if (shape_.update == UpdateTime::kByEveryRank) {
    program_.add({.verb = Verb::kOptimize, .lane = kComputeLane, .after = ends_of_lanes()});
  }
  if (shape_.update == UpdateTime::kAfterVote && shape_.copies != Copies::kPerRank) {
    std::vector<std::size_t> others = ends_of_lanes();
    if (last_of_lane_[1]) std::erase(others, *last_of_lane_[1]);
    add({.verb = Verb::kMeet, .lane = 1, .after = others});
  }
}

Program StepBuilder::build() {
  const auto actions_of = [this](int bucket) -> const BucketActions& {
    return shape_.actions.empty() ? kLockStepActions : *shape_.actions[static_cast<std::size_t>(bucket)];
  };
  compute();
  if (shape_.update == UpdateTime::kWhenReduced) weighed();  // otherwise the vote adds up the weights
  for (int bucket = 0; bucket < shape_.num_buckets; ++bucket) actions_of(bucket).before_vote(*this, bucket);
  const std::size_t voted = combine(vote());
  for (int bucket = 0; bucket < shape_.num_buckets; ++bucket) {
    actions_of(bucket).after_vote(*this, bucket, voted);
  }
  finish();
  return std::move(program_);
}

namespace {

void lock_step_before_vote(StepBuilder& step, int bucket) {
  const bool at_once = step.shape().update == UpdateTime::kWhenReduced;
  Action action{
      .verb = at_once ? Verb::kApply : Verb::kReduce, .lane = step.lane_of(bucket), .bucket = bucket};
  action.after = {step.add_fill(bucket)};
  if (at_once && action.lane != 1) action.after.push_back(step.weighed());
  step.add(std::move(action));
  if (at_once && step.shape().copies != Copies::kOne) {
    step.add({.verb = Verb::kGather, .lane = step.lane_of(bucket), .bucket = bucket});
  }
}

void lock_step_after_vote(StepBuilder& step, int bucket, std::size_t vote) {
  const int lane = step.lane_of(bucket);
  if (step.shape().update == UpdateTime::kByEveryRank) {
    step.add({.verb = Verb::kGatherGradients, .lane = lane, .bucket = bucket, .after = {vote}});
  }
  if (step.shape().update != UpdateTime::kAfterVote) return;
  step.add({.verb = Verb::kUpdate, .lane = lane, .bucket = bucket, .after = {vote}});
  if (step.shape().copies != Copies::kOne) step.add({.verb = Verb::kGather, .lane = lane, .bucket = bucket});
}

}  // namespace

const BucketActions kLockStepActions = {lock_step_before_vote, lock_step_after_vote};

}  // namespace cohort
