#include "update/schedule.h"

#include "base/check.h"
#include "update/setting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace cohort {
namespace {

using update::check_setting;
using update::Least;

double after_warmup(const Schedule& schedule, std::int64_t step) {
  const auto periods = static_cast<double>(step) / static_cast<double>(schedule.period_steps);
  switch (schedule.kind) {
    case ScheduleKind::kConstant:
      return schedule.learning_rate;
    case ScheduleKind::kStep:
      return schedule.learning_rate * std::pow(schedule.factor, std::floor(periods));
    case ScheduleKind::kExponential:
      return schedule.learning_rate * std::pow(schedule.factor, periods);
    case ScheduleKind::kCosine: {
      if (step >= schedule.period_steps) return schedule.final_learning_rate;
      const double share = (1 + std::cos(std::numbers::pi * periods)) / 2;
      return schedule.final_learning_rate + (schedule.learning_rate - schedule.final_learning_rate) * share;
    }
  }
  return schedule.learning_rate;
}

Status check_curve(const UpdateConfig& config, ScheduleKind kind) {
  if (kind == ScheduleKind::kConstant) return {};
  if (config.schedule_steps < 1) {
    return Error(ErrorCode::kUsage,
                 fmt::format("update.schedule_steps = {} is less than 1", config.schedule_steps))
        .with_remedy(fmt::format("Schedule '{}' needs the number of steps {}.", config.schedule,
                                 kind == ScheduleKind::kCosine ? "it lasts" : "of one factor"));
  }
  if (kind != ScheduleKind::kCosine) {
    return check_setting("schedule_factor", config.schedule_factor, Least::kMoreThanZero);
  }
  COHORT_RETURN_IF_ERROR(check_setting("final_learning_rate", config.final_learning_rate, Least::kZero));
  if (config.final_learning_rate > config.learning_rate) {
    return Error(ErrorCode::kUsage,
                 fmt::format("update.final_learning_rate = {} is more than update.learning_rate = {}",
                             config.final_learning_rate, config.learning_rate))
        .with_remedy("A cosine goes down.");
  }
  return {};
}

}  // namespace

double learning_rate(const Schedule& schedule, std::int64_t step) {
  COHORT_CHECK_GE(step, 0);
  COHORT_CHECK_GE(schedule.period_steps, 1);
  if (step >= schedule.warmup_steps) return after_warmup(schedule, step - schedule.warmup_steps);
  return schedule.learning_rate * static_cast<double>(step + 1) / static_cast<double>(schedule.warmup_steps);
}

Schedule scaled_to(const Schedule& schedule, double learning_rate) {
  Schedule scaled = schedule;
  scaled.learning_rate = learning_rate;
  if (schedule.learning_rate > 0) {
    scaled.final_learning_rate *= learning_rate / schedule.learning_rate;
  }
  return scaled;
}

Result<Schedule> make_schedule(const UpdateConfig& config) {
  static constexpr std::array<std::string_view, 4> kNames = {"constant", "step", "exponential", "cosine"};
  COHORT_ASSIGN_OR_RETURN(const std::size_t kind, update::chosen("schedule", config.schedule, kNames));
  COHORT_RETURN_IF_ERROR(check_setting("learning_rate", config.learning_rate, Least::kZero));
  if (config.warmup_steps < 0) {
    return Error(ErrorCode::kUsage,
                 fmt::format("update.warmup_steps = {} is less than 0", config.warmup_steps));
  }
  const auto schedule_kind = static_cast<ScheduleKind>(kind);
  COHORT_RETURN_IF_ERROR(check_curve(config, schedule_kind));
  return Schedule{.kind = schedule_kind,
                  .learning_rate = config.learning_rate,
                  .warmup_steps = config.warmup_steps,
                  .period_steps = std::max(config.schedule_steps, 1),
                  .factor = config.schedule_factor,
                  .final_learning_rate = config.final_learning_rate};
}

}  // namespace cohort
