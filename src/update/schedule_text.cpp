#include "update/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort {
namespace {

int number_of(auto word) {
  return static_cast<int>(word);
}

std::string curve_text(const learning_rate::Constant&) {
  return "constant";
}

std::string curve_text(const learning_rate::Step& step) {
  return fmt::format("step step_size={} gamma={}", step.step_size, step.gamma);
}

std::string curve_text(const learning_rate::MultiStep& step) {
  return fmt::format("multi-step milestones=[{}] gamma={}", fmt::join(step.milestones, ", "), step.gamma);
}

std::string curve_text(const learning_rate::Exponential& exponential) {
  return fmt::format("exponential step_size={} gamma={}", exponential.step_size, exponential.gamma);
}

std::string curve_text(const learning_rate::InverseSquareRoot& root) {
  return fmt::format("inverse-sqrt timescale={}", root.timescale);
}

std::string curve_text(const learning_rate::Polynomial& polynomial) {
  return fmt::format("polynomial total_steps={} power={} eta_min={}", polynomial.total_steps,
                     polynomial.power, polynomial.eta_min);
}

std::string curve_text(const learning_rate::Cosine& cosine) {
  return fmt::format("cosine t_max={} eta_min={}", cosine.t_max, cosine.eta_min);
}

std::string curve_text(const learning_rate::CosineRestarts& restarts) {
  return fmt::format("cosine-restarts t_0={} t_mult={} eta_min={}", restarts.t_0, restarts.t_mult,
                     restarts.eta_min);
}

std::string curve_text(const learning_rate::OneCycle& cycle) {
  return fmt::format(
      "one-cycle total_steps={} pct_start={} anneal_strategy={} cycle_momentum={} base_momentum={} "
      "max_momentum={} div_factor={} final_div_factor={} three_phase={}",
      cycle.total_steps, cycle.pct_start, number_of(cycle.anneal_strategy), cycle.cycle_momentum,
      cycle.base_momentum, cycle.max_momentum, cycle.div_factor, cycle.final_div_factor, cycle.three_phase);
}

std::string curve_text(const learning_rate::StableDecay& decay) {
  return fmt::format("wsd total_steps={} decay_steps={} decay={} eta_min={}", decay.total_steps,
                     decay.decay_steps, number_of(decay.decay), decay.eta_min);
}

std::string curve_text(const learning_rate::Plateau& plateau) {
  return fmt::format(
      "plateau metric={} factor={} patience={} threshold={} threshold_mode={} cooldown={} min_lr={} eps={}",
      number_of(plateau.metric), plateau.factor, plateau.patience, plateau.threshold,
      number_of(plateau.threshold_mode), plateau.cooldown, plateau.min_lr, plateau.eps);
}

}  // namespace

std::string text_of(const LearningRateSchedule& schedule) {
  const WarmUp& warmup = schedule.warmup;
  const BatchScaling& scaling = schedule.scale_with_batch;
  return fmt::format(
      "{}, warmup={} warmup_steps={} warmup_start_factor={}, scale_with_batch={} base_batch_size={}",
      std::visit([](const auto& curve) { return curve_text(curve); }, schedule.curve),
      number_of(warmup.shape), warmup.steps, warmup.start_factor.value_or(0), number_of(scaling.rule),
      scaling.base_batch_size);
}

}  // namespace cohort
