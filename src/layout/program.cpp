#include "layout/program.h"

#include "base/checksum.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace cohort {
namespace {

constexpr std::array<std::string_view, 13> kNames = {
    "load",   "forward", "backward",         "fill",    "weigh", "reduce", "vote", "update", "apply",
    "gather", "meet",    "gather_gradients", "optimize"};

bool is_common(const Action& action) {
  return !action.micro_batch && action.verb != Verb::kFill && action.verb != Verb::kUpdate &&
         action.verb != Verb::kOptimize;
}

/// Adds the actions of a step; remembers what later actions wait for.
class StepBuilder {
 public:
  explicit StepBuilder(const StepShape& shape) : shape_(shape) {
    program_.num_lanes = 1 + std::max(shape.bucket_lanes, 1);
    last_of_lane_.resize(static_cast<std::size_t>(program_.num_lanes));
  }

  Program build() {
    compute();
    if (shape_.update == UpdateTime::kWhenReduced) weigh();  // otherwise the vote adds up the weights
    for (int bucket = 0; bucket < shape_.num_buckets; ++bucket) reduce(bucket);
    const std::size_t vote =
        program_.add({.verb = Verb::kVote, .lane = kComputeLane, .after = ends_of_lanes()});
    if (shape_.update == UpdateTime::kAfterVote) update_after(vote);
    if (shape_.update == UpdateTime::kByEveryRank) optimize_after(vote);
    // Under kWhenReduced a rank votes after its updates, so the vote is a barrier too.
    return std::move(program_);
  }

 private:
  int lane_of(int bucket) const { return 1 + bucket % (program_.num_lanes - 1); }

  std::optional<int> named(int stage) const {
    return shape_.num_stages > 1 ? std::optional(stage) : std::nullopt;
  }

  std::size_t add(Action action) {
    const auto lane = static_cast<std::size_t>(action.lane);
    last_of_lane_[lane] = program_.add(std::move(action));
    return *last_of_lane_[lane];
  }

  // The last actions of all lanes but that of computation.
  std::vector<std::size_t> ends_of_lanes() const {
    std::vector<std::size_t> ends;
    for (std::size_t lane = 1; lane < last_of_lane_.size(); ++lane) {
      if (last_of_lane_[lane]) ends.push_back(*last_of_lane_[lane]);
    }
    return ends;
  }

  void compute() {
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

  void weigh() {
    Action action{.verb = Verb::kWeigh, .lane = 1};
    if (last_forward_) action.after = {*last_forward_};
    weighed_ = add(std::move(action));
  }

  void reduce(int bucket) {
    const int lane = lane_of(bucket);
    const bool at_once = shape_.update == UpdateTime::kWhenReduced;
    Action action{.verb = at_once ? Verb::kApply : Verb::kReduce, .lane = lane, .bucket = bucket};
    action.after = {program_.add({.verb = Verb::kFill, .lane = lane, .bucket = bucket})};
    if (at_once && lane != 1) action.after.push_back(weighed_);
    add(std::move(action));
    if (at_once && shape_.copies != Copies::kOne) {
      add({.verb = Verb::kGather, .lane = lane, .bucket = bucket});
    }
  }

  void update_after(std::size_t vote) {
    for (int bucket = 0; bucket < shape_.num_buckets; ++bucket) {
      add({.verb = Verb::kUpdate, .lane = lane_of(bucket), .bucket = bucket, .after = {vote}});
      if (shape_.copies != Copies::kOne) {
        add({.verb = Verb::kGather, .lane = lane_of(bucket), .bucket = bucket});
      }
    }
    if (shape_.copies != Copies::kPerRank) {
      std::vector<std::size_t> others = ends_of_lanes();
      std::erase(others, *last_of_lane_[1]);
      add({.verb = Verb::kMeet, .lane = 1, .after = others});
    }
  }

  void optimize_after(std::size_t vote) {
    for (int bucket = 0; bucket < shape_.num_buckets; ++bucket) {
      add({.verb = Verb::kGatherGradients, .lane = lane_of(bucket), .bucket = bucket, .after = {vote}});
    }
    program_.add({.verb = Verb::kOptimize, .lane = kComputeLane, .after = ends_of_lanes()});
  }

  const StepShape& shape_;
  Program program_;
  std::vector<std::optional<std::size_t>> last_of_lane_;  // per lane: its last action, fill not counted
  std::optional<std::size_t> last_forward_;
  std::size_t weighed_ = 0;
};

}  // namespace

std::string_view name(Verb verb) {
  return kNames[static_cast<std::size_t>(verb)];
}

std::string Action::text() const {
  std::string text(name(verb));
  std::replace(text.begin(), text.end(), '_', ' ');
  if (bucket) text += fmt::format("{} bucket {}", verb == Verb::kGatherGradients ? " of" : "", *bucket);
  if (micro_batch) text += fmt::format(" micro-batch {}", *micro_batch);
  if (stage) text += fmt::format(" stage {}", *stage);
  if (unit) text += fmt::format(" unit {}", *unit);
  if (peer) text += fmt::format(" rank {}", *peer);
  return text;
}

std::size_t Program::add(Action action) {
  actions.push_back(std::move(action));
  return actions.size() - 1;
}

std::uint64_t common_hash(const Program& program) {
  std::string text = fmt::format("{} lanes\n", program.num_lanes);
  for (const Action& action : program.actions) {
    if (is_common(action)) text += fmt::format("{} {}\n", action.lane, action.text());
  }
  return content_hash(std::as_bytes(std::span(text)));
}

Program data_parallel_program(const StepShape& shape) {
  return StepBuilder(shape).build();
}

}  // namespace cohort
