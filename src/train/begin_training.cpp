#include "state/model_facts.h"
#include "train/settings.h"
#include "train/trainer_parts.h"

#include <torch/nn/module.h>

namespace cohort {

// The best model of another run is in its folder.
void Trainer::Parts::forget_best() {
  const state::Position fresh;
  course.best.reset();
  course.position.best_loss = fresh.best_loss;
  course.position.evaluations_since_best = fresh.evaluations_since_best;
}

void Trainer::Parts::begin(const Dataset& data) {
  course = {
      .ledger = {.samples = data.size(),
                 .batch_size = solver != nullptr ? data.size() : options.batch_size.value_or(data.size()),
                 .micro_batches = train::slots_of(options, group.size())},
      .settings = {{"seed", std::to_string(options.seed)}, {"shuffle", options.shuffle ? "true" : "false"}},
      .config = options.checkpoint ? options.checkpoint->config : ""};
  course.settings.merge(value_or_throw(state::metadata_of(options.facts)));
  save_is_due = false;
  report.resumed = checkpoints->resume(course);
  if (solver != nullptr && report.resumed) solver->take_parameters();
  if (!checkpoints->goes_on()) forget_best();
  if (options.mask != MaskOptions{}) report.masked = replica.num_masked();
  const bool goes_on = checkpoints->goes_on();
  directory.prepare(options.facts, goes_on ? std::optional(course.position.step) : std::nullopt);
  checkpoints->open();
  report.steps = course.position.step;
  samples_before = course.position.samples;
  report.epochs = course.position.epoch;
  if (course.best) {
    report.best = EvaluationReport{.epoch = course.best->epoch,
                                   .step = course.best->step,
                                   .loss = course.best->loss,
                                   .accuracy = course.best->accuracy,
                                   .is_best = true};
  }
  const bool has_ended = options.patience && course.position.evaluations_since_best >= *options.patience;
  if (has_ended) report.end = TrainingEnd::kPatience;
  if (report.resumed && options.on_resume) options.on_resume(*report.resumed);
}

void Trainer::Parts::keep(std::string_view name) {
  ModelFacts facts = options.facts;
  facts.others["step"] = std::to_string(report.steps);
  facts.others["epoch"] = std::to_string(report.epochs);
  directory.keep(name, replica.tensors(), facts);
}

}  // namespace cohort
