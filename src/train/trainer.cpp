#include "layout/batch_plan.h"
#include "state/run_directory.h"
#include "train/evaluator.h"
#include "train/settings.h"
#include "train/trainer_parts.h"

#include <algorithm>
#include <cmath>
#include <torch/nn/module.h>

namespace cohort {

using train::Verdict;
using Seconds = std::chrono::duration<double>;

// Trains epoch by epoch, evaluates on the test data, and writes the best and the last model.
void Trainer::Parts::fit(std::shared_ptr<const Dataset> data, const Dataset* test) {
  train_data = data;
  const auto num_samples = static_cast<std::uint64_t>(data->size());
  const auto batch = static_cast<std::uint64_t>(options.batch_size.value_or(data->size()));
  const BatchPlan plan(num_samples, batch, train::slots_of(options, group.size()));
  SlotLoader loader(
      std::move(data),
      SampleOrder(num_samples, options.shuffle ? Shuffle::kEveryEpoch : Shuffle::kNone, options.seed), plan,
      {.threads = options.loader_threads, .depth = options.prefetch, .seed = options.seed});
  train::Buffers buffers(group, replica.tensors());
  train::BatchesObjective objective(objective_parts(loader, plan), buffers);
  while (report.epochs < options.epochs && report.end == TrainingEnd::kDone) {
    const bool is_whole = solver != nullptr ? solver_epoch(objective, static_cast<std::int64_t>(num_samples))
                                            : epoch(loader, plan);
    if (!is_whole) break;
    const state::Position before_evaluation = course.position;
    end_epoch();
    const bool due = options.evaluate_every && report.epochs % *options.evaluate_every == 0;
    if (test != nullptr && due && !look_at(*test)) {
      if (report.end == TrainingEnd::kStopped) course.position = before_evaluation;
      break;
    }
    if (save_is_due) checkpoints->save(course);
  }
  // Before an evaluation that a longer training would not make.
  checkpoints->finish(course);
  const bool was_seen = report.last && report.last->step == report.steps;
  const bool is_over = report.end == TrainingEnd::kDone || report.end == TrainingEnd::kSolved;
  if (test != nullptr && !was_seen && is_over) look_at(*test);
  keep(kLastModel);
  keep_averages();
}

// False if training ended before the epoch was over.
bool Trainer::Parts::epoch(SlotLoader& loader, const BatchPlan& plan) {
  const std::vector<int> mine = deal(train::slots_of(options, group.size()), group.size(), group.rank());
  // As many steps ahead as the loader needs to have work for its depth, however long the epoch is.
  const std::uint64_t ahead =
      static_cast<std::uint64_t>(options.prefetch) / std::max<std::size_t>(mine.size(), 1) + 2;
  const auto first = static_cast<std::uint64_t>(course.position.step_in_epoch);
  std::uint64_t num_announced = first;
  for (std::uint64_t in_epoch = first; in_epoch < plan.steps_per_epoch(); ++in_epoch) {
    for (; num_announced < std::min(in_epoch + ahead, plan.steps_per_epoch()); ++num_announced) {
      std::vector<SlotAddress> upcoming;
      for (const int slot : mine) {
        upcoming.push_back({static_cast<std::uint64_t>(report.epochs), num_announced, slot});
      }
      loader.expect(std::move(upcoming));
    }
    if (options.steps && report.steps >= *options.steps) return false;
    const Verdict verdict = step(loader, in_epoch);
    if (verdict.stop) {
      report.end = TrainingEnd::kStopped;
      return false;
    }
    save_is_due = verdict.save;  // after the last step of an epoch: with its evaluation
    if (save_is_due && in_epoch + 1 < plan.steps_per_epoch()) checkpoints->save(course);
  }
  return true;
}

Verdict Trainer::Parts::step(SlotLoader& loader, std::uint64_t step_in_epoch) {
  const train::StepInfo info{.step = report.steps,
                             .learning_rate = learning_rate(),
                             .momentum = momentum_at(options.schedule, report.steps),
                             .micro_batches = turns(),
                             .hash_replica = options.hash_every && report.steps % *options.hash_every == 0,
                             .wants_to_stop = options.wants_to_stop && options.wants_to_stop(),
                             .wants_to_save = checkpoints->is_due(report.steps + 1),
                             .precision = train::step_precision(options.precision, course.position)};
  const auto epoch = static_cast<std::uint64_t>(report.epochs);
  const Seconds waited_before = replica.waited(), stalled_before = loader.stall();
  const auto start = std::chrono::steady_clock::now();
  const Verdict verdict = replica.step(info, [&](int slot) {
    return load(loader, {epoch, step_in_epoch, slot});
  });
  train::follow(options.precision, verdict, computation.num_stages(), course.position);
  report.steps = ++course.position.step;
  course.loss.reset();
  ++course.position.step_in_epoch;
  add_to_epoch(verdict);
  tell(verdict, info,
       {.whole = Seconds(std::chrono::steady_clock::now() - start).count(),
        // A rank that is alone waits for its own updates only.
        .waited = group.size() > 1 ? (Seconds(replica.waited()) - waited_before).count() : 0,
        .stalled = (Seconds(loader.stall()) - stalled_before).count()});
  checkpoints->copy(course);
  return verdict;
}

std::vector<int> Trainer::Parts::turns() const {
  const train::Turns how = replica.computes_together() ? train::Turns::kTogether : train::Turns::kOwn;
  return train::turns_of(options, group.size(), group.rank(), how);
}

train::Loaded Trainer::Parts::load(SlotLoader& loader, const SlotAddress& address) const {
  if (address.slot < train::slots_of(options, group.size())) {
    Batch batch = loader.take(address);
    if (!batch.samples.empty() || !replica.computes_together()) return batch;
  }
  return {loader.any_sample(address.epoch), nn::Standing::kStandIn};
}

void Trainer::Parts::tell(const Verdict& verdict, const train::StepInfo& info, StepTimes times) {
  StepReport step{.step = report.steps,
                  .epoch = report.epochs + 1,
                  .loss = verdict.loss,
                  .learning_rate = info.learning_rate,
                  .samples = static_cast<std::int64_t>(verdict.samples),
                  .seconds = times.whole,
                  .communication_seconds = times.waited,
                  .stall_seconds = times.stalled,
                  .skipped = verdict.kind == Verdict::Kind::kSkip,
                  .f32_stages = train::stages_in(info.precision.f32_stages, computation.num_stages())};
  if (options.precision.loss_scaling != LossScaling::kNone) step.loss_scale = info.precision.loss_scale;
  if (replica.update_time() != UpdateTime::kWhenReduced) step.gradient_norm = verdict.gradient_norm;
  count(step);
}

void Trainer::Parts::count(const StepReport& step) {
  report.loss = step.loss;
  report.skipped_steps = course.position.skipped_steps;
  report.seconds += step.seconds;
  report.communication_seconds += step.communication_seconds;
  report.stall_seconds += step.stall_seconds;
  course.position.samples += step.samples;
  report.samples_per_second = static_cast<double>(course.position.samples - samples_before) / report.seconds;
  checkpoints->report();
  if (options.on_step) options.on_step(step);
}

// False if training ends: the loss has not improved for `patience` evaluations, or a rank wants to stop.
bool Trainer::Parts::look_at(const Dataset& test) {
  const auto averaged =
      options.average.evaluate ? averaged_model(evaluation_options()) : nullptr;  // also for the best model
  std::optional<EvaluationReport> found;
  if (report.end != TrainingEnd::kStopped) {
    found = train::evaluate(group, *module, computation, test, evaluation_options());
  }
  if (!found) {
    report.end = TrainingEnd::kStopped;
    return false;
  }
  EvaluationReport seen = *found;
  course.loss = seen.loss;
  watch(learning_rate::Plateau::Metric::kEvaluation, seen.loss);
  seen.epoch = report.epochs + (course.position.step_in_epoch > 0 ? 1 : 0);
  seen.step = report.steps;
  seen.is_best = seen.loss < course.position.best_loss && std::isfinite(seen.loss);
  course.position.evaluations_since_best = seen.is_best ? 0 : course.position.evaluations_since_best + 1;
  if (seen.is_best) {
    course.position.best_loss = seen.loss;
    report.best = seen;
    course.best = {.epoch = seen.epoch, .step = seen.step, .loss = seen.loss, .accuracy = seen.accuracy};
    keep(kBestModel);
  }
  report.last = seen;
  if (options.on_evaluation) options.on_evaluation(seen);
  if (!options.patience || course.position.evaluations_since_best < *options.patience) return true;
  report.end = TrainingEnd::kPatience;
  return false;
}

}  // namespace cohort
