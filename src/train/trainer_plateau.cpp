#include "train/trainer_parts.h"

#include <torch/nn/module.h>

namespace cohort {

using learning_rate::Plateau;

void Trainer::Parts::watch(Plateau::Metric metric, double loss) {
  const auto* const plateau = std::get_if<Plateau>(&options.schedule.curve);
  if (plateau == nullptr || plateau->metric != metric) return;
  course.position.plateau = after_loss(*plateau, course.position.plateau, loss);
}

// Steps that were skipped have no loss that counts.
void Trainer::Parts::add_to_epoch(const train::Verdict& verdict) {
  const auto* const plateau = std::get_if<Plateau>(&options.schedule.curve);
  if (plateau == nullptr || plateau->metric != Plateau::Metric::kTraining) return;
  if (verdict.kind == train::Verdict::Kind::kSkip) return;
  course.position.epoch_loss += verdict.loss * verdict.weight;
  course.position.epoch_weight += verdict.weight;
}

void Trainer::Parts::end_epoch() {
  state::Position& position = course.position;
  report.epochs = ++position.epoch;
  position.step_in_epoch = 0;
  if (position.epoch_weight > 0)
    watch(Plateau::Metric::kTraining, position.epoch_loss / position.epoch_weight);
  position.epoch_loss = position.epoch_weight = 0;
}

}  // namespace cohort
