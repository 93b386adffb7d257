
#include "bench_step.h"
#include "model/loss.h"
#include "model/model.h"
#include "train/replica.h"
#include "train/settings.h"
#include "train/sync_plan.h"
#include <cohort/autocast.h>
#include <cohort/data_parallel.h>
#include <cohort/trainer.h>

#include <fmt/format.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

namespace cohort::tool {
namespace {

constexpr std::uint64_t kSeed = 1;

ComputeType compute_of(const BenchStepOrder& order) {
  const auto type = compute_type_named(order.precision);
  if (type) return *type;
  throw UsageError(fmt::format("--precision {}: expected f32 or bf16", order.precision));
}

// The model and its batch: the same for every implementation of the step.
struct Task {
  std::shared_ptr<Model> model;
  LossKind loss{};
  Batch batch;

  Evaluation evaluate() const { return cohort::evaluate(*model, loss, batch); }
};

Task make_task(const BenchStepOrder& order, int rank) {
  BenchModel made = bench_model(order.model);
  made.config.batch_norm = order.batch_norm;
  Task task{.model = value_or_throw(make_model(made.config, made.facts, kSeed)),
            .loss = loss_of(made.config, made.facts),
            .batch = random_batch(made.facts, order.batch, kSeed * 1000 + static_cast<std::uint64_t>(rank))};
  task.model->train();
  return task;
}

OptimizerKind optimizer_of(const BenchStepOrder& order) {
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdamW}) {
    if (name(kind) == order.optimizer) return kind;
  }
  throw UsageError(fmt::format("--optimizer {}: expected sgd or adamw", order.optimizer));
}

// The step of `cohort train`, on a batch in memory.
class TrainerWay final : public StepWay {
 public:
  TrainerWay(Communicator& group, Arena& arena, const BenchStepOrder& order)
      : task_(make_task(order, group.rank())), options_(options_of(order)) {
    info_ = {.learning_rate = order.learning_rate, .micro_batches = {group.rank()}};
    train::ReplicaSettings settings = train::replica_settings(options_);
    settings.sync = train::sync_plan(options_, *task_.model);
    replica_ = std::make_unique<train::Replica>(
        group, arena, task_.model,
        Objective([this](const Batch& batch) { return evaluate(*task_.model, task_.loss, batch); }),
        train::updates_of(options_, *task_.model), settings);
  }

  void step() override {
    info_.hash_replica = info_.step % *options_.hash_every == 0;
    replica_->step(info_, [this](int) { return task_.batch; });
    ++info_.step;
  }

 private:
  static TrainerOptions options_of(const BenchStepOrder& order) {
    TrainerOptions options{.optimizer = {.kind = optimizer_of(order), .learning_rate = order.learning_rate},
                           .precision = {.compute = compute_of(order)}};
    if (options.optimizer.kind == OptimizerKind::kSgd) options.optimizer.momentum = order.momentum;
    return options;
  }

  const Task task_;
  const TrainerOptions options_;
  train::StepInfo info_;
  std::unique_ptr<train::Replica> replica_;
};

// One trainer per rank, without communication, all at the same time: the upper limit that the machine sets.
class ApartWay final : public StepWay {
 public:
  ApartWay(Context& context, const BenchStepOrder& order)
      : own_(value_or_throw(context.communicator().split(context.rank(), 0, "apart"))),
        way_(*own_, context.arena(), order) {}

  void step() override { way_.step(); }

 private:
  const std::unique_ptr<Communicator> own_;
  TrainerWay way_;
};

enum class LoopUpdate { kNone, kOptimizer };
enum class LoopGradients { kOwn, kMean };

// A training loop with an optimizer of torch or without one, with DataParallel or without.
class LoopWay final : public StepWay {
 public:
  LoopWay(Context& context, const BenchStepOrder& order, LoopUpdate update, LoopGradients gradients)
      : task_(make_task(order, context.rank())),
        optimizer_(make_optimizer(order)),
        update_(update),
        compute_(compute_of(order)) {
    if (gradients == LoopGradients::kMean) {
      parallel_ = std::make_unique<DataParallel>(context, *task_.model);
    }
  }

  void step() override {
    optimizer_->zero_grad();
    const Evaluation evaluation = forward();
    (evaluation.loss / evaluation.weight).backward();
    if (update_ == LoopUpdate::kOptimizer) optimizer_->step();
  }

 private:
  Evaluation forward() const {
    const Autocast mixed = autocast(compute_);
    return task_.evaluate();
  }

  std::unique_ptr<torch::optim::Optimizer> make_optimizer(const BenchStepOrder& order) const {
    if (optimizer_of(order) == OptimizerKind::kAdamW) {
      return std::make_unique<torch::optim::AdamW>(
          task_.model->parameters(), torch::optim::AdamWOptions(order.learning_rate).weight_decay(0));
    }
    return std::make_unique<torch::optim::SGD>(
        task_.model->parameters(), torch::optim::SGDOptions(order.learning_rate).momentum(order.momentum));
  }

  const Task task_;
  const std::unique_ptr<torch::optim::Optimizer> optimizer_;
  const LoopUpdate update_;
  const ComputeType compute_;
  std::unique_ptr<DataParallel> parallel_;
};

}  // namespace

std::unique_ptr<StepWay> make_step_way(Context& context, const BenchStepOrder& order) {
  if (order.way == "trainer") {
    return std::make_unique<TrainerWay>(context.communicator(), context.arena(), order);
  }
  if (order.way == "apart") return std::make_unique<ApartWay>(context, order);
  if (order.way == "data_parallel") {
    return std::make_unique<LoopWay>(context, order, LoopUpdate::kOptimizer, LoopGradients::kMean);
  }
  if (order.way == "data_parallel_without_update") {
    return std::make_unique<LoopWay>(context, order, LoopUpdate::kNone, LoopGradients::kMean);
  }
  if (order.way == "loop_without_update") {
    return std::make_unique<LoopWay>(context, order, LoopUpdate::kNone, LoopGradients::kOwn);
  }
  throw UsageError(fmt::format("there is no way '{}' to make a step", order.way));
}

}  // namespace cohort::tool
