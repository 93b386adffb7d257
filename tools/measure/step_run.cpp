#include "measure/step_run.h"

namespace cohort::measure {

Result<std::map<std::string, Summary>> run_steps(const StepPlan& plan, const TakeSteps& take,
                                                 const StepProgress& progress) {
  for (const std::string& group : plan.groups) {
    progress(group, 0);
    COHORT_RETURN_IF_ERROR(take(group, {.steps = plan.warm_up_steps}));
  }
  std::map<std::string, std::vector<double>> samples;
  for (int round = 1; round <= plan.rounds; ++round) {
    for (const std::string& group : plan.groups) {
      progress(group, round);
      COHORT_ASSIGN_OR_RETURN(const auto taken, take(group, {.steps = plan.steps}));
      samples[group].insert(samples[group].end(), taken.begin(), taken.end());
    }
  }
  std::map<std::string, Summary> times;
  for (auto& [group, all] : samples) times.emplace(group, summarize(std::move(all)));
  return times;
}

std::optional<double> ratio_of(std::optional<double> a, std::optional<double> b) {
  if (!a || !b || *b == 0) return std::nullopt;
  return *a / *b;
}

}  // namespace cohort::measure
