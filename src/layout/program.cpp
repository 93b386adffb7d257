#include "layout/program.h"

#include "base/checksum.h"
#include "layout/step_builder.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace cohort {
namespace {

constexpr std::array<std::string_view, 15> kNames = {
    "load",    "forward", "backward", "fill",   "weigh", "reduce",           "vote",    "prepare",
    "combine", "update",  "apply",    "gather", "meet",  "gather_gradients", "optimize"};

bool is_common(const Action& action) {
  return !action.micro_batch && action.verb != Verb::kFill && action.verb != Verb::kPrepare &&
         action.verb != Verb::kUpdate && action.verb != Verb::kOptimize;
}

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
