#include "train/sync_plan.h"

#include "base/nearest.h"
#include "train/module_tensors.h"
#include "update/groups.h"
#include <cohort/tensor.h>

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

namespace cohort::train {
namespace {

/// The kind of this name; without a name, the default.
template <class Kind>
const Kind& kind_named(std::span<const Kind> kinds, const std::optional<std::string>& name,
                       const Kind& fallback, const char* what) {
  if (!name) return fallback;
  std::vector<std::string> known;
  for (const Kind& kind : kinds) {
    if (kind.name == *name) return kind;
    known.emplace_back(kind.name);
  }
  const auto meant = nearest(*name, known);
  throw UsageError(
      UsageError(fmt::format("TrainerOptions::groups names the {} '{}', which does not exist", what, *name))
          .with_remedy(meant ? fmt::format("Did you mean '{}'?", *meant)
                             : fmt::format("Choose one of: {}.", fmt::join(known, ", "))));
}

SyncPlan::Part part_for(const GroupSettings& settings, const TrainerOptions& options) {
  const bool is_any_world = options.deterministic == Deterministic::kAnyWorld;
  const ReducerKind& usual = default_reducer(is_any_world ? Summation::kByTree : Summation::kByRank);
  const ReducerKind& reducer = kind_named(reducer_kinds(), settings.reducer, usual, "reducer");
  if (is_any_world && reducer.name != usual.name) {
    throw UsageError(
        UsageError(
            fmt::format("TrainerOptions::groups names the reducer '{}', whose sums depend on the number "
                        "of ranks, but TrainerOptions::deterministic = Deterministic::kAnyWorld",
                        reducer.name))
            .with_remedy(fmt::format("Leave the reducer out, or name '{}'.", usual.name)));
  }
  const auto kinds = synchronizer_kinds();
  return {.synchronizer = &kind_named(kinds, settings.synchronizer, kinds.front(), "synchronizer"),
          .reducer = &reducer};
}

}  // namespace

NearGroups SyncPlan::near_groups() const {
  const bool in_order = std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return part.reducer->near == NearGroups::kInOrder;
  });
  return in_order ? NearGroups::kInOrder : NearGroups::kByHost;
}

bool SyncPlan::sums_in_place() const {
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.reducer->sums_in_place; });
}

std::vector<const BucketActions*> SyncPlan::actions(const BucketLayout& layout) const {
  std::vector<const BucketActions*> all;
  for (const Bucket& bucket : layout.buckets) {
    all.push_back(&parts[static_cast<std::size_t>(bucket.part)].synchronizer->actions);
  }
  return all;
}

SyncPlan sync_plan(const TrainerOptions& options, const torch::nn::Module& module) {
  SyncPlan plan;
  for (const NamedTensor& named : tensors_of(module).parameters) {
    SyncPlan::Part wanted = part_for(settings_of(options.groups, named.name), options);
    wanted.dtype = dtype_of(named.tensor);
    const auto found = std::find_if(plan.parts.begin(), plan.parts.end(), [&](const SyncPlan::Part& part) {
      return part.synchronizer == wanted.synchronizer && part.reducer == wanted.reducer &&
             part.dtype == wanted.dtype;
    });
    plan.part_of.push_back(static_cast<int>(found - plan.parts.begin()));
    if (found == plan.parts.end()) plan.parts.push_back(wanted);
  }
  return plan;
}

}  // namespace cohort::train
