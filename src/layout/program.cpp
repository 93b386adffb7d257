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
    case Verb::kGather:
      return "gather";
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
      return std::string(name(verb));
    default:
      return fmt::format("{} bucket {}", name(verb), bucket);
  }
}

Program data_parallel_program(const std::vector<int>& slots, int num_buckets, UpdateTime update) {
  Program program;
  const auto add = [&](Action action) {
    program.push_back(std::move(action));
    return program.size() - 1;
  };
  const auto change = [&](int bucket, std::vector<std::size_t> after) {
    add({.verb = Verb::kUpdate, .bucket = bucket, .after = std::move(after)});
    return add({.verb = Verb::kGather, .bucket = bucket});
  };
  for (const int slot : slots) {
    add({.verb = Verb::kLoad, .slot = slot});
    add({.verb = Verb::kForward, .slot = slot});
    add({.verb = Verb::kBackward, .slot = slot});
  }
  std::vector<std::size_t> before_vote;
  for (int bucket = 0; bucket < num_buckets; ++bucket) {
    const std::size_t filled = add({.verb = Verb::kFill, .bucket = bucket});
    const std::size_t reduced = add({.verb = Verb::kReduce, .bucket = bucket, .after = {filled}});
    before_vote = {update == UpdateTime::kWhenReduced ? change(bucket, {}) : reduced};
  }
  const std::size_t vote = add({.verb = Verb::kVote, .after = before_vote});
  if (update == UpdateTime::kAfterVote) {
    for (int bucket = 0; bucket < num_buckets; ++bucket) change(bucket, {vote});
  }
  return program;
}

}  // namespace cohort
