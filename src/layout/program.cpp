#include "layout/program.h"

#include <fmt/format.h>

namespace cohort {

std::string_view name(ActionKind kind) {
  switch (kind) {
    case ActionKind::kLoad:
      return "load";
    case ActionKind::kForward:
      return "forward";
    case ActionKind::kBackward:
      return "backward";
    case ActionKind::kFill:
      return "fill";
    case ActionKind::kReduce:
      return "reduce";
    case ActionKind::kVote:
      return "vote";
    case ActionKind::kUpdate:
      return "update";
    case ActionKind::kApply:
      return "apply";
    case ActionKind::kGather:
      return "gather";
    case ActionKind::kMeet:
      return "meet";
    case ActionKind::kGatherGradients:
      return "gather gradients of";
    case ActionKind::kOptimize:
      return "optimize";
  }
  return "?";
}

std::string Action::text() const {
  switch (kind) {
    case ActionKind::kLoad:
    case ActionKind::kForward:
    case ActionKind::kBackward:
      return fmt::format("{} slot {}", name(kind), slot);
    case ActionKind::kVote:
    case ActionKind::kMeet:
    case ActionKind::kOptimize:
      return std::string(name(kind));
    default:
      return fmt::format("{} bucket {}", name(kind), bucket);
  }
}

Program data_parallel_program(const std::vector<int>& slots, int num_buckets, UpdateTime update,
                              Copies copies) {
  Program program;
  const auto add = [&](Action action) {
    program.push_back(std::move(action));
    return program.size() - 1;
  };
  for (const int slot : slots) {
    add({.kind = ActionKind::kLoad, .slot = slot});
    add({.kind = ActionKind::kForward, .slot = slot});
    add({.kind = ActionKind::kBackward, .slot = slot});
  }
  const bool at_once = update == UpdateTime::kWhenReduced;
  std::vector<std::size_t> before_vote;
  for (int bucket = 0; bucket < num_buckets; ++bucket) {
    const std::size_t filled = add({.kind = ActionKind::kFill, .bucket = bucket});
    before_vote = {add(
        {.kind = at_once ? ActionKind::kApply : ActionKind::kReduce, .bucket = bucket, .after = {filled}})};
    if (at_once && copies == Copies::kPerRank) {
      before_vote = {add({.kind = ActionKind::kGather, .bucket = bucket})};
    }
  }
  const std::size_t vote = add({.kind = ActionKind::kVote, .after = before_vote});
  if (at_once) return program;  // a rank votes after its updates, so the vote is a barrier too
  if (update == UpdateTime::kByEveryRank) {
    for (int bucket = 0; bucket < num_buckets; ++bucket) {
      add({.kind = ActionKind::kGatherGradients, .bucket = bucket, .after = {vote}});
    }
    add({.kind = ActionKind::kOptimize});
    return program;
  }
  for (int bucket = 0; bucket < num_buckets; ++bucket) {
    add({.kind = ActionKind::kUpdate, .bucket = bucket, .after = {vote}});
    if (copies == Copies::kPerRank) add({.kind = ActionKind::kGather, .bucket = bucket});
  }
  if (copies == Copies::kOne) add({.kind = ActionKind::kMeet});
  return program;
}

}  // namespace cohort
