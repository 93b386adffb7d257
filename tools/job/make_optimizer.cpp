#include "job/make_optimizer.h"

#include "base/check.h"
#include "update/optimizer.h"

#include <algorithm>
#include <array>

namespace cohort::job {
namespace {

constexpr std::array<std::string_view, 4> kSchedules = {"constant", "step", "exponential", "cosine"};

OptimizerKind optimizer_of(std::string_view word) {
  const auto found = optimizer_named(word);
  COHORT_CHECK(found.has_value(), "optimizer.name = '{}'", word);
  return *found;
}

LearningRateScheduleKind schedule_named(std::string_view word) {
  const auto* const found = std::find(kSchedules.begin(), kSchedules.end(), word);
  COHORT_CHECK(found != kSchedules.end(), "schedule.name = '{}'", word);
  return static_cast<LearningRateScheduleKind>(found - kSchedules.begin());
}

}  // namespace

OptimizerSettings make_optimizer(const OptimizerConfig& config) {
  OptimizerSettings settings = config;
  settings.kind = optimizer_of(config.name);
  return with_defaults(settings);
}

LearningRateSchedule make_learning_rate_schedule(const ScheduleConfig& config, std::int64_t run_steps) {
  const std::int64_t rest_of_the_run = std::max<std::int64_t>(run_steps - config.warmup_steps, 1);
  return {.kind = schedule_named(config.name),
          .warmup_steps = config.warmup_steps,
          .step_size = std::max(config.step_size, 1),
          .gamma = config.gamma,
          .t_max = config.t_max > 0 ? config.t_max : rest_of_the_run,
          .eta_min = config.eta_min};
}

}  // namespace cohort::job
