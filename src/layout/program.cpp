#include "layout/program.h"

#include <fmt/format.h>

namespace cohort {

std::string_view name(Verb verb) {
  switch (verb) {
    case Verb::kLoad:
      return "load";
    case Verb::kForward:
      return "forward";
    case Verb::kBackward:
      return "backward";
    case Verb::kFill:
      return "fill";
    case Verb::kReduce:
      return "reduce";
    case Verb::kVote:
      return "vote";
    case Verb::kUpdate:
      return "update";
    case Verb::kApply:
      return "apply";
    case Verb::kGather:
      return "gather";
    case Verb::kMeet:
      return "meet";
  }
  return "?";
}

std::string Action::text() const {
  switch (verb) {
    case Verb::kLoad:
    case Verb::kForward:
    case Verb::kBackward:
      return fmt::format("{} slot {}", name(verb), slot);
    case Verb::kVote:
    case Verb::kMeet:
      return std::string(name(verb));
    default:
      return fmt::format("{} bucket {}", name(verb), bucket);
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
    add({.verb = Verb::kLoad, .slot = slot});
    add({.verb = Verb::kForward, .slot = slot});
    add({.verb = Verb::kBackward, .slot = slot});
  }
  const bool at_once = update == UpdateTime::kWhenReduced;
  std::vector<std::size_t> before_vote;
  for (int bucket = 0; bucket < num_buckets; ++bucket) {
    const std::size_t filled = add({.verb = Verb::kFill, .bucket = bucket});
    before_vote = {
        add({.verb = at_once ? Verb::kApply : Verb::kReduce, .bucket = bucket, .after = {filled}})};
    if (at_once && copies == Copies::kPerRank) before_vote = {add({.verb = Verb::kGather, .bucket = bucket})};
  }
  const std::size_t vote = add({.verb = Verb::kVote, .after = before_vote});
  if (at_once) return program;  // whoever knows all votes knows that all have updated
  for (int bucket = 0; bucket < num_buckets; ++bucket) {
    add({.verb = Verb::kUpdate, .bucket = bucket, .after = {vote}});
    if (copies == Copies::kPerRank) add({.verb = Verb::kGather, .bucket = bucket});
  }
  if (copies == Copies::kOne) add({.verb = Verb::kMeet});
  return program;
}

}  // namespace cohort
