#include "comm/shared_memory/arena.h"
#include "train/abort.h"
#include "train/evaluator.h"
#include "train/model_file.h"
#include "train/narrow_parameters.h"
#include "train/same_training.h"
#include "train/settings.h"
#include "train/solver_options.h"
#include "train/trainer_parts.h"
#include <cohort/group.h>

#include <torch/nn/module.h>

namespace cohort {

Objective mean_loss(std::function<at::Tensor(const Batch&)> loss) {
  return [loss = std::move(loss)](const Batch& batch) {
    const auto weight = static_cast<double>(batch.samples.size());
    return Evaluation{.loss = loss(batch) * weight, .weight = weight};
  };
}

OutputLoss mean_loss(std::function<at::Tensor(const at::Tensor&, const Batch&)> loss) {
  return [loss = std::move(loss)](const at::Tensor& output, const Batch& batch) {
    const auto weight = static_cast<double>(batch.samples.size());
    return Evaluation{.loss = loss(output, batch) * weight, .weight = weight};
  };
}

Trainer::Trainer(Group& group, std::shared_ptr<torch::nn::Module> module, Objective objective,
                 TrainerOptions options)
    : Trainer(group.communicator(), group.arena(), std::move(module), std::move(objective), nullptr,
              std::move(options)) {
  parts_->keeps = group.hold();
}

Trainer::Trainer(Group& group, std::shared_ptr<torch::nn::Module> module, Objective objective,
                 torch::optim::Optimizer& optimizer, TrainerOptions options)
    : Trainer(group.communicator(), group.arena(), std::move(module), std::move(objective), &optimizer,
              std::move(options)) {
  parts_->keeps = group.hold();
}

Trainer::Trainer(Group& group, std::shared_ptr<torch::nn::Module> module, Output output, OutputLoss loss,
                 TrainerOptions options)
    : Trainer(group.communicator(), group.arena(), std::move(module), std::move(output), std::move(loss),
              std::move(options)) {
  parts_->keeps = group.hold();
}

Trainer::Trainer(Group& group, Stages stages, OutputLoss loss, TrainerOptions options)
    : Trainer(group.communicator(), group.arena(), std::move(stages), std::move(loss), nullptr,
              std::move(options)) {
  parts_->keeps = group.hold();
}

Trainer::Trainer(Group& group, Stages stages, OutputLoss loss, torch::optim::Optimizer& optimizer,
                 TrainerOptions options)
    : Trainer(group.communicator(), group.arena(), std::move(stages), std::move(loss), &optimizer,
              std::move(options)) {
  parts_->keeps = group.hold();
}

Trainer::Trainer(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module,
                 Objective objective, TrainerOptions options)
    : Trainer(group, arena, std::move(module), std::move(objective), nullptr, std::move(options)) {}

Trainer::Trainer(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module,
                 Objective objective, torch::optim::Optimizer* optimizer, TrainerOptions options)
    : Trainer(group, arena, Order{std::move(module), std::move(objective), optimizer, std::move(options)}) {}

Trainer::Trainer(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module, Output output,
                 OutputLoss loss, TrainerOptions options)
    : Trainer(group, arena,
              Order{std::move(module), train::Computation(std::move(output), std::move(loss)), nullptr,
                    std::move(options)}) {}

Trainer::Trainer(Communicator& group, Arena& arena, Stages stages, OutputLoss loss,
                 torch::optim::Optimizer* optimizer, TrainerOptions options)
    : Trainer(group, arena,
              Order{stages.module(), train::Computation(stages, std::move(loss)), optimizer,
                    std::move(options)}) {}

Trainer::Trainer(Communicator& group, Arena& arena, Order order) {
  const TrainerOptions& options = order.options;
  torch::nn::Module& module = *order.module;
  train::or_abort(group, [&] {
    train::check_options(options, group.size());
    train::Frozen frozen(options, module);
    if (options.precision.parameters == DType::kBF16) train::narrow_parameters(train::tensors_of(module));
    std::vector<train::ParameterUpdate> updates = train::updates_of(options, module);
    train::ReplicaSettings settings = train::replica_settings(options);
    settings.sync = train::sync_plan(options, module);
    if (!options.rank_factors.empty()) {
      settings.loss_factor = options.rank_factors[static_cast<std::size_t>(group.rank())];
    }
    std::unique_ptr<train::TorchOptimizer> torch_optimizer;
    if (options.solver) {
      train::check_solver_module(options, module);
      settings.sharing = train::Sharing::kNone;
      updates.assign(updates.size(), {.optimizer = {.momentum = 0}});
    }
    if (order.optimizer == nullptr) {
      train::check_momentum(options);
    } else {
      train::check_torch_options(options);
      torch_optimizer = std::make_unique<train::TorchOptimizer>(*order.optimizer, train::tensors_of(module));
      if (momentum_at(options.schedule, 0)) torch_optimizer->check_momentum();
      settings.torch_optimizer = torch_optimizer.get();
      settings.sharing = train::Sharing::kNone;                        // every rank updates a copy of its own
      updates.assign(updates.size(), {.optimizer = {.momentum = 0}});  // without moments
    }
    parts_ = std::unique_ptr<Parts>(
        new Parts{.group = group,
                  .module = order.module,
                  .computation = order.computation,
                  .options = options,
                  .frozen = std::move(frozen),
                  .torch_optimizer = std::move(torch_optimizer),
                  .trace = nullptr,
                  .replica = {group, arena, order.module, order.computation, std::move(updates), settings},
                  .directory = {group, options.directory}});
    if (options.solver) parts_->make_solver();
    if (parts_->options.trace) {
      parts_->trace = std::make_unique<train::TrainerTrace>(parts_->replica, *parts_->options.trace);
    }
  });
}

Trainer::~Trainer() {
  if (!parts_->home.is_here()) {
    (void)parts_.release();
  } else if (parts_->trace != nullptr) {
    parts_->trace->leave(parts_->group);
  }
}

TrainingReport Trainer::fit(std::shared_ptr<const Dataset> data, std::shared_ptr<const Dataset> test) {
  if (data->size() == 0) throw UsageError("there is no sample to train with");
  // A module in training mode stays as it is: users put parts into evaluation mode that are not to be
  // trained.
  if (!parts_->module->is_training()) parts_->module->train();
  parts_->report = {};
  parts_->check_statistics();
  const train::Checkpoints::Turn turn(parts_->checkpoints, parts_->group, parts_->replica, parts_->options);
  train::or_abort(parts_->replica.lanes(), [&] {
    train::check_test_data(parts_->options, test.get());
    train::check_same_training(parts_->group, parts_->options, *data, test.get(),
                               parts_->torch_optimizer.get());
    train::or_abort(parts_->checkpoints->copies(), [&] {
      parts_->begin(*data);
      parts_->fit(std::move(data), test.get());
    });
  });
  parts_->checkpoints->copies().training_is_over();
  parts_->report.parameters_hash = train::hash_of(parts_->replica.tensors());
  parts_->report.saved_step = parts_->checkpoints->saved_step();
  return parts_->report;
}

double Trainer::Parts::learning_rate() const {
  const double factor = batch_factor(options.schedule.scale_with_batch, course.ledger.batch_size);
  const auto scheduled = [&](double rate) {
    return learning_rate_at(options.schedule, rate * factor, report.steps, course.position.plateau);
  };
  if (torch_optimizer == nullptr) return scheduled(learning_rate_of(options.optimizer));
  if (const auto momentum = momentum_at(options.schedule, report.steps))
    torch_optimizer->set_momentum(*momentum);
  return torch_optimizer->set_learning_rates(scheduled);
}

void Trainer::visit_state(const StateVisitor& visitor) {
  parts_->replica.visit(visitor);
  state::visit(parts_->course.position, visitor);
}

Trace Trainer::trace() const {
  return parts_->trace != nullptr ? parts_->trace->records() : Trace{};
}

TrainerMemory Trainer::memory() const {
  const train::BucketSet& buckets = parts_->replica.buckets();
  const auto sharers = static_cast<std::size_t>(parts_->replica.num_sharers());
  return {.parameters = buckets.value_bytes().size() / sharers,
          .gradients = parts_->replica.gradient_bytes(),
          .moments = parts_->replica.moment_bytes() +
                     (parts_->solver != nullptr ? parts_->solver->size_bytes() : 0)};
}

}  // namespace cohort
