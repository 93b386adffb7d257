#include "update/schedule.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>
#include <limits>

namespace cohort {
namespace {

constexpr double kAboveZero = std::numeric_limits<double>::denorm_min();
constexpr double kFinite = std::numeric_limits<double>::max();
constexpr double kBelowOne = 1 - std::numeric_limits<double>::epsilon() / 2;

/// A setting and its limits, both of which it may have.
struct Setting {
  const char* name;
  double value;
  double least;
  double most;
};

std::string limits_text(const Setting& setting) {
  const std::string least =
      setting.least == kAboveZero ? "above 0" : fmt::format("at least {}", setting.least);
  if (setting.most == kFinite) return fmt::format("a finite number, {}", least);
  if (setting.most == kBelowOne) return fmt::format("a number {} and below 1", least);
  return fmt::format("a number {} and at most {}", least, setting.most);
}

Status check_all(const char* owner, std::initializer_list<Setting> settings) {
  for (const Setting& setting : settings) {
    if (setting.value >= setting.least && setting.value <= setting.most) continue;  // false for a NaN
    return Error(ErrorCode::kUsage, fmt::format("{}::{} is {}, expected {}", owner, setting.name,
                                                setting.value, limits_text(setting)));
  }
  return {};
}

double real(std::int64_t number) {
  return static_cast<double>(number);
}

Status check(const learning_rate::Constant&) {
  return {};
}

Status check(const learning_rate::Step& step) {
  return check_all("learning_rate::Step", {{"step_size", real(step.step_size), 1, kFinite},
                                           {"gamma", step.gamma, kAboveZero, kFinite}});
}

Status check(const learning_rate::MultiStep& step) {
  std::int64_t before = 0;
  for (const std::int64_t milestone : step.milestones) {
    if (milestone <= before) {
      return Error(ErrorCode::kUsage,
                   fmt::format("learning_rate::MultiStep::milestones has {} after {}, expected numbers of "
                               "steps above 0 that increase",
                               milestone, before));
    }
    before = milestone;
  }
  return check_all("learning_rate::MultiStep", {{"gamma", step.gamma, kAboveZero, kFinite}});
}

Status check(const learning_rate::Exponential& exponential) {
  return check_all("learning_rate::Exponential", {{"step_size", real(exponential.step_size), 1, kFinite},
                                                  {"gamma", exponential.gamma, kAboveZero, kFinite}});
}

Status check(const learning_rate::InverseSquareRoot& root) {
  return check_all("learning_rate::InverseSquareRoot", {{"timescale", real(root.timescale), 1, kFinite}});
}

Status check(const learning_rate::Polynomial& polynomial) {
  return check_all("learning_rate::Polynomial", {{"total_steps", real(polynomial.total_steps), 1, kFinite},
                                                 {"power", polynomial.power, 0, kFinite},
                                                 {"eta_min", polynomial.eta_min, 0, kFinite}});
}

Status check(const learning_rate::Cosine& cosine) {
  return check_all("learning_rate::Cosine",
                   {{"t_max", real(cosine.t_max), 1, kFinite}, {"eta_min", cosine.eta_min, 0, kFinite}});
}

Status check(const learning_rate::CosineRestarts& restarts) {
  return check_all("learning_rate::CosineRestarts", {{"t_0", real(restarts.t_0), 1, kFinite},
                                                     {"t_mult", real(restarts.t_mult), 1, kFinite},
                                                     {"eta_min", restarts.eta_min, 0, kFinite}});
}

// Momentum 0 would be SGD without moments, which other steps of the cycle have.
Status check(const learning_rate::OneCycle& cycle) {
  return check_all("learning_rate::OneCycle",
                   {{"total_steps", real(cycle.total_steps), 1, kFinite},
                    {"pct_start", cycle.pct_start, 0, cycle.three_phase ? 0.5 : 1},
                    {"base_momentum", cycle.base_momentum, kAboveZero, kBelowOne},
                    {"max_momentum", cycle.max_momentum, cycle.base_momentum, kBelowOne},
                    {"div_factor", cycle.div_factor, kAboveZero, kFinite},
                    {"final_div_factor", cycle.final_div_factor, kAboveZero, kFinite}});
}

Status check(const learning_rate::StableDecay& decay) {
  return check_all("learning_rate::StableDecay",
                   {{"total_steps", real(decay.total_steps), 1, kFinite},
                    {"decay_steps", real(decay.decay_steps), 1, real(decay.total_steps)},
                    {"eta_min", decay.eta_min, 0, kFinite}});
}

Status check(const learning_rate::Plateau& plateau) {
  const bool is_relative = plateau.threshold_mode == learning_rate::Plateau::Threshold::kRelative;
  return check_all("learning_rate::Plateau", {{"factor", plateau.factor, 0, kBelowOne},
                                              {"patience", real(plateau.patience), 0, kFinite},
                                              {"threshold", plateau.threshold, 0, is_relative ? 1 : kFinite},
                                              {"cooldown", real(plateau.cooldown), 0, kFinite},
                                              {"min_lr", plateau.min_lr, 0, kFinite},
                                              {"eps", plateau.eps, 0, kFinite}});
}

}  // namespace

Status check_schedule(const LearningRateSchedule& schedule) {
  const WarmUp& warmup = schedule.warmup;
  COHORT_RETURN_IF_ERROR(
      check_all("WarmUp", {{"steps", real(warmup.steps), 0, kFinite},
                           {"start_factor", warmup.start_factor.value_or(1), kAboveZero, 1}}));
  const BatchScaling& scaling = schedule.scale_with_batch;
  if (scaling.rule != BatchScaling::Rule::kNone) {
    COHORT_RETURN_IF_ERROR(
        check_all("BatchScaling", {{"base_batch_size", real(scaling.base_batch_size), 1, kFinite}}));
  }
  return std::visit([](const auto& curve) { return check(curve); }, schedule.curve);
}

}  // namespace cohort
