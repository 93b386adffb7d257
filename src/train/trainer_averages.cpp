#include "state/run_directory.h"
#include "train/abort.h"
#include "train/trainer_parts.h"

#include <algorithm>

namespace cohort {
namespace {

UsageError no_averages() {
  return UsageError(
      UsageError("there are no averages of parameters yet")
          .with_remedy("Set TrainerOptions::average, and train at least until its first update, "
                       "TrainerOptions::average.start."));
}

}  // namespace

train::EvaluationOptions Trainer::Parts::evaluation_options() const {
  return {.batch = std::max<std::int64_t>(options.batch_size.value_or(0), 64),
          .wants_to_stop = options.wants_to_stop,
          .compute = options.precision.compute};
}

void Trainer::Parts::check_statistics() const {
  if (!options.average.update_bn || train::has_batch_statistics(*module)) return;
  throw UsageError(UsageError("TrainerOptions::average.update_bn is set, but the module has no batch "
                              "normalisation with running statistics that is trained")
                       .with_remedy("Leave it out."));
}

std::unique_ptr<train::AveragedModel> Trainer::Parts::averaged_model(const train::EvaluationOptions& how) {
  if (replica.post_steps().num_averages() == 0) return nullptr;
  auto averaged = std::make_unique<train::AveragedModel>(group, replica.sharded_update(), replica.tensors());
  if (!options.average.update_bn) return averaged;
  if (train_data == nullptr) throw no_averages();
  const train::StatisticsOrder order{.computation = computation, .data = *train_data, .options = how};
  if (!averaged->compute_statistics(group, *module, order)) report.end = TrainingEnd::kStopped;
  return averaged;
}

// Statistics of a stopped training would take a pass over the data that nobody waits for.
void Trainer::Parts::keep_averages() {
  report.averages = replica.post_steps().num_averages();
  const bool is_stopped = report.end == TrainingEnd::kStopped;
  if (options.directory.empty() || (is_stopped && options.average.update_bn)) return;
  const auto averaged = averaged_model(evaluation_options());
  const bool was_cut = !is_stopped && report.end == TrainingEnd::kStopped;
  if (averaged != nullptr && !was_cut) keep(kAverageModel);
}

void Trainer::with_averages(const std::function<void()>& use) {
  train::or_abort(parts_->replica.lanes(), [&] {
    train::EvaluationOptions how = parts_->evaluation_options();
    how.wants_to_stop = {};
    const auto averaged = parts_->averaged_model(how);
    if (averaged == nullptr) throw no_averages();
    use();
  });
}

EvaluationReport Trainer::evaluate(const Dataset& data) {
  std::optional<EvaluationReport> report;
  train::or_abort(parts_->replica.lanes(), [&] {
    train::EvaluationOptions how = parts_->evaluation_options();
    how.wants_to_stop = {};
    const auto averaged = parts_->options.average.evaluate ? parts_->averaged_model(how) : nullptr;
    report = train::evaluate(parts_->group, *parts_->module, parts_->computation, data,
                             {.compute = parts_->options.precision.compute});
  });
  return *report;
}

}  // namespace cohort
