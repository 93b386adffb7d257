#pragma once

#include <cohort/learning_rate_curves.h>
#include <cohort/state.h>

#include <cstdint>
#include <limits>

namespace cohort::state {

/// How far a training has come. Random numbers, the order of samples and the learning rate follow from it, so
/// that training continues from a position and the other pieces of the state alone.
struct Position {
  std::int64_t step = 0;           ///< steps so far
  std::int64_t epoch = 0;          ///< epochs that are over
  std::int64_t step_in_epoch = 0;  ///< steps of the next epoch so far
  std::int64_t samples = 0;        ///< samples so far
  std::int64_t evaluations_since_best = 0;
  double best_loss = std::numeric_limits<double>::infinity();  ///< of all evaluations; infinity: none yet
  std::int64_t skipped_steps = 0;                              ///< of the steps so far
  double loss_scale = 0;            ///< of the next step; 0: it is not dynamic, or no step was made
  std::int64_t growth_tracker = 0;  ///< of the loss scale
  std::int64_t overflows_in_row = 0;
  std::int64_t f32_stages = 0;  ///< a bit for each stage that computes in f32 for a while
  std::int64_t f32_until = 0;   ///< the step before which they do
  // For a learning rate that falls on a plateau of the loss:
  PlateauState plateau{};
  double epoch_loss = 0;    ///< the losses of the steps of the next epoch so far, times their weights
  double epoch_weight = 0;  ///< the sum of these weights
};

/// Visits the fields as numbers that all ranks have: `position/step`, …
void visit(Position& position, const StateVisitor& visitor);

}  // namespace cohort::state
