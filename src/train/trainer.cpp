#include <cohort/trainer.h>

#include "comm/shared_memory/arena.h"
#include "data/slot_loader.h"
#include "layout/slots.h"
#include "storage/local_file_system.h"
#include "train/evaluator.h"
#include "train/model_file.h"
#include "train/replica.h"
#include "train/settings.h"
#include <cohort/context.h>

#include <torch/nn/module.h>

namespace cohort {

using train::Verdict;
using Seconds = std::chrono::duration<double>;

struct Trainer::Parts {
  Communicator& group;
  std::shared_ptr<torch::nn::Module> module;
  Objective objective;
  TrainerOptions options;
  train::Replica replica;
  LocalFileSystem files{};
  TrainingReport report{};
  int evaluations_since_best = 0;
  std::int64_t samples = 0;

  void fit(std::shared_ptr<const Dataset> data, const Dataset* test);
  bool epoch(SlotLoader& loader, const BatchPlan& plan);
  Verdict step(SlotLoader& loader, const BatchPlan& plan, std::uint64_t step_in_epoch);
  void tell(const Verdict& verdict, double learning_rate, Seconds took, Seconds waited);
  bool look_at(const Dataset& test);
  void keep(const std::string& name);
};

// The story of the whole: epochs of steps, a look at other data, the best and the last model kept.
void Trainer::Parts::fit(std::shared_ptr<const Dataset> data, const Dataset* test) {
  const auto num_samples = static_cast<std::uint64_t>(data->size());
  const auto batch = options.batch == 0 ? num_samples : static_cast<std::uint64_t>(options.batch);
  const BatchPlan plan(num_samples, batch, train::slots_of(options, group.world()));
  SlotLoader loader(std::move(data),
                    SampleOrder(num_samples, options.shuffle ? Shuffle::kEveryEpoch : Shuffle::kNone, options.seed),
                    plan, {.threads = options.loader_threads, .depth = options.prefetch});
  while (report.epochs < options.epochs && report.end == TrainingEnd::kDone) {
    if (!epoch(loader, plan)) break;
    const bool due = options.evaluate_every > 0 && report.epochs % options.evaluate_every == 0;
    if (test != nullptr && due && !look_at(*test)) report.end = TrainingEnd::kPatience;
  }
  keep("last");
}

// False if it ended before the epoch was over.
bool Trainer::Parts::epoch(SlotLoader& loader, const BatchPlan& plan) {
  const std::vector<int> mine = deal(train::slots_of(options, group.world()), group.world(), group.rank());
  for (std::uint64_t step = 0; step < plan.steps_per_epoch(); ++step) {
    std::vector<SlotAddress> upcoming;
    for (const int slot : mine) upcoming.push_back({static_cast<std::uint64_t>(report.epochs), step, slot});
    loader.expect(std::move(upcoming));
  }
  for (std::uint64_t in_epoch = 0; in_epoch < plan.steps_per_epoch(); ++in_epoch) {
    if (options.steps && report.steps >= *options.steps) return false;
    if (step(loader, plan, in_epoch).stop) {
      report.end = TrainingEnd::kStopped;
      return false;
    }
  }
  ++report.epochs;
  return true;
}

Verdict Trainer::Parts::step(SlotLoader& loader, const BatchPlan& plan, std::uint64_t step_in_epoch) {
  const train::StepInfo info{
      .step = report.steps,
      .learning_rate = learning_rate(options.schedule, report.steps),
      .weight = static_cast<double>(plan.batch_size(step_in_epoch)),
      .slots = deal(train::slots_of(options, group.world()), group.world(), group.rank()),
      .hash_replica = options.hash_every > 0 && report.steps % options.hash_every == 0,
      .wants_to_stop = options.wants_to_stop && options.wants_to_stop()};
  const auto epoch = static_cast<std::uint64_t>(report.epochs);
  const Seconds waited_before = replica.waited(), stalled_before = loader.stall();
  const auto start = std::chrono::steady_clock::now();
  Verdict verdict = replica.step(info, [&](int slot) {
    return loader.take({epoch, step_in_epoch, slot});
  });
  verdict.stall = (Seconds(loader.stall()) - stalled_before).count();
  ++report.steps;
  tell(verdict, info.learning_rate, std::chrono::steady_clock::now() - start, Seconds(replica.waited()) - waited_before);
  return verdict;
}

void Trainer::Parts::tell(const Verdict& verdict, double learning_rate, Seconds took, Seconds waited) {
  report.loss = verdict.loss;
  report.seconds += took.count();
  report.communication_seconds += waited.count();
  report.stall_seconds += verdict.stall;
  samples += static_cast<std::int64_t>(verdict.weight);
  report.samples_per_second = static_cast<double>(samples) / report.seconds;
  if (!options.on_step) return;
  StepReport step{.step = report.steps,
                  .epoch = report.epochs + 1,
                  .loss = verdict.loss,
                  .learning_rate = learning_rate,
                  .samples = static_cast<std::int64_t>(verdict.weight),
                  .seconds = took.count(),
                  .communication_seconds = waited.count(),
                  .stall_seconds = verdict.stall,
                  .skipped = verdict.kind == Verdict::Kind::kSkip};
  if (replica.update_time() == UpdateTime::kAfterVote) step.gradient_norm = verdict.gradient_norm;
  options.on_step(step);
}

// False if nothing has got better for as long as patience lasts.
bool Trainer::Parts::look_at(const Dataset& test) {
  EvaluationReport seen = train::evaluate(group, *module, objective, test, std::max<std::int64_t>(options.batch, 64));
  seen.epoch = report.epochs;
  seen.step = report.steps;
  seen.is_best = !report.best || seen.loss < report.best->loss;
  evaluations_since_best = seen.is_best ? 0 : evaluations_since_best + 1;
  if (seen.is_best) {
    report.best = seen;
    keep("best");
  }
  report.last = seen;
  if (options.on_evaluation) options.on_evaluation(seen);
  return options.patience == 0 || evaluations_since_best < options.patience;
}

void Trainer::Parts::keep(const std::string& name) {
  if (options.directory.empty()) return;
  Status written;
  if (group.rank() == 0) {
    written = train::write_model(files, options.directory + "/" + name + ".safetensors", replica.tensors(),
                                 {{"step", std::to_string(report.steps)}, {"epoch", std::to_string(report.epochs)}});
    if (!written) group.abort(written.error());
  }
  value_or_throw(std::move(written));
  value_or_throw(group.run(barrier()));
}

Trainer::Trainer(Context& context, std::shared_ptr<torch::nn::Module> module, Objective objective, TrainerOptions options)
    : Trainer(context.communicator(), context.arena(), std::move(module), std::move(objective), std::move(options)) {}

Trainer::Trainer(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module, Objective objective,
                 TrainerOptions options) {
  train::check_options(options, group.world());
  std::vector<train::ParameterUpdate> updates = train::updates_of(options, *module);
  const train::ReplicaSettings settings = train::replica_settings(options);
  parts_ = std::unique_ptr<Parts>(new Parts{
      .group = group, .module = module, .objective = objective, .options = std::move(options),
      .replica = {group, arena, module, objective, std::move(updates), settings}});
}

Trainer::~Trainer() = default;

TrainingReport Trainer::fit(std::shared_ptr<const Dataset> data, std::shared_ptr<const Dataset> test) {
  if (data->size() == 0) throw UsageError("there is no sample to train with");
  parts_->module->train();
  parts_->report = {};
  parts_->fit(std::move(data), test.get());
  parts_->report.parameters_hash = train::hash_of(parts_->replica.tensors());
  return parts_->report;
}

EvaluationReport Trainer::evaluate(const Dataset& data) {
  return train::evaluate(parts_->group, *parts_->module, parts_->objective, data, 256);
}

TrainerMemory Trainer::memory() const {
  const std::size_t flat = parts_->replica.buckets().all_values().size_bytes();
  return {.parameters = flat, .gradients = flat, .moments = parts_->replica.moment_bytes()};
}

}  // namespace cohort
