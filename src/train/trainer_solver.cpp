#include "train/settings.h"
#include "train/solver_options.h"
#include "train/trainer_parts.h"

#include <algorithm>
#include <torch/nn/module.h>

namespace cohort {

void Trainer::Parts::make_solver() {
  if (options.solver->kind == SolverKind::kGaussNewton && !computation.has_outputs()) {
    throw UsageError(
        UsageError("SolverSettings::kind is kGaussNewton, which requires the output of the model, and "
                   "the Trainer was given an objective that tells the loss alone")
            .with_remedy("Give the Trainer a function for the output and one for the loss of it, "
                         "or stages."));
  }
  const std::vector<train::NamedTensor>& parameters = replica.tensors().parameters;
  solver = std::make_unique<train::SlicedSolver>(group, parameters, *options.solver,
                                                 train::penalties_of(options, parameters));
  replica.set_solver(solver.get());
}

train::BatchesObjective::Parts Trainer::Parts::objective_parts(SlotLoader& loader, const BatchPlan& plan) {
  const std::vector<int> mine = deal(train::slots_of(options, group.size()), group.size(), group.rank());
  const auto wants = [this] {
    return train::LossOfRank{.wants_to_stop = options.wants_to_stop && options.wants_to_stop() ? 1.0 : 0.0,
                             .wants_to_save = checkpoints->is_due(report.steps + 1) ? 1.0 : 0.0};
  };
  return {.module = *module,
          .computation = computation,
          .loader = loader,
          .plan = plan,
          .slots = mine,
          .ahead = options.prefetch / static_cast<int>(std::max<std::size_t>(mine.size(), 1)) + 2,
          .seed = options.seed,
          .loss_factor =
              options.rank_factors.empty() ? 1 : options.rank_factors[static_cast<std::size_t>(group.rank())],
          .wants = wants};
}

bool Trainer::Parts::solver_epoch(train::BatchesObjective& objective, std::int64_t num_samples) {
  using InSeconds = std::chrono::duration<double>;
  if (course.position.step_in_epoch > 0) return true;  // a snapshot of a training that was stopped
  if (options.steps && report.steps >= *options.steps) return false;
  const SolverReport before = solver->report();
  const InSeconds waited_before = solver->waited(), stalled_before = objective.stall();
  const auto start = std::chrono::steady_clock::now();
  solver->set_learning_rate(learning_rate());
  objective.open();
  const SolverReport now = solver->iterate(objective, options.solver->max_iterations);
  objective.close();
  report.solver = now;
  report.loss = now.loss;
  const bool has_ended = now.end && now.end != SolverEnd::kIterations;
  if (has_ended) report.end = TrainingEnd::kSolved;
  if (has_ended && now.iterations == before.iterations) return false;
  report.steps = ++course.position.step;
  course.loss.reset();
  ++course.position.step_in_epoch;
  course.position.epoch_loss = now.loss;
  course.position.epoch_weight = 1;
  count(
      {.step = report.steps,
       .epoch = report.epochs + 1,
       .loss = now.loss,
       .learning_rate = now.step_length,
       .samples = num_samples * (now.evaluations - before.evaluations),
       .seconds = InSeconds(std::chrono::steady_clock::now() - start).count(),
       .communication_seconds = group.size() > 1 ? (InSeconds(solver->waited()) - waited_before).count() : 0,
       .stall_seconds = (InSeconds(objective.stall()) - stalled_before).count()});
  checkpoints->copy(course);
  save_is_due = solver->wanted().wants_to_save > 0;
  if (solver->wanted().wants_to_stop == 0) return true;
  report.end = TrainingEnd::kStopped;
  return false;
}

}  // namespace cohort
