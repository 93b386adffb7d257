#include "train/replica.h"

#include "base/checksum.h"
#include "train/abort.h"
#include "train/evaluator.h"
#include "train/module_tensors.h"
#include "train/slot_tree.h"
#include <cohort/dropout.h>
#include <cohort/random.h>
#include <cohort/tensor.h>

#include <ATen/ATen.h>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <torch/nn/module.h>
#include <torch/utils.h>

namespace cohort::train {
namespace {

void check_types(const ModuleTensors& tensors) {
  if (tensors.parameters.empty()) {
    throw UsageError("the module has no parameter to train").with_remedy("Register one, or unfreeze one.");
  }
  for (const NamedTensor& named : tensors.parameters) {
    if (named.tensor.scalar_type() == at::kFloat && named.tensor.device().is_cpu()) continue;
    throw UsageError(
        Error(ErrorCode::kUsage,
              fmt::format("parameter '{}' is a {} tensor on {}", named.name,
                          at::toString(named.tensor.scalar_type()), named.tensor.device().str()))
            .with_remedy("The trainer updates f32 parameters in CPU memory; convert the module with "
                         "module->to(torch::kFloat)."));
  }
}

void check_loss(const at::Tensor& loss) {
  check_is_one_number(loss);
  if (!loss.requires_grad()) {
    throw UsageError(
        UsageError("the loss that the objective returned does not depend on a parameter that is trained")
            .with_remedy("Compute it with the module, and without at::NoGradGuard or detach()."));
  }
}

}  // namespace

struct Replica::Tree {
  SlotTree sums;
};

Replica::Replica(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module,
                 Objective objective, std::vector<ParameterUpdate> updates, const ReplicaSettings& settings)
    : group_(group),
      arena_(arena),
      module_(std::move(module)),
      objective_(std::move(objective)),
      settings_(settings),
      tensors_(tensors_of(*module_)),
      buffers_(group_, tensors_) {
  check_types(tensors_);
  check_same_module(group_, tensors_);
  std::vector<at::Tensor> parameters = plain(tensors_.parameters);
  BucketLayout layout = planned_layout(parameters, expected_order(parameters.size()));
  ParameterMemory memory = memory_for(layout);
  const bool sums_slots = settings_.summation == Summation::kByTree;
  const bool is_flat = sums_slots || settings_.torch_optimizer != nullptr;
  buckets_ = std::make_unique<BucketSet>(arena_, parameters, std::move(layout), std::move(memory),
                                         is_flat ? GradientMemory::kFlat : GradientMemory::kPooled);
  lock_step_ = std::make_unique<LockStep>(group_, *buckets_, std::move(updates), settings_.summation);
  if (sums_slots) tree_ = std::make_unique<Tree>();
  if (copies() == Copies::kPerRank) send_from_first(group_, tensors_.parameters);
  for (const auto* each : {&tensors_.frozen, &tensors_.buffers, &tensors_.counters}) {
    send_from_first(group_, *each);
  }
  intake_ = std::make_unique<GradientIntake>(*buckets_, static_cast<GradientSink&>(*this),
                                             sums_slots ? ReportFull::kAtEnd : ReportFull::kDuringBackward);
  engine_ = std::make_unique<Engine>([this](const Action& action) {
    try {
      perform(action);
    } catch (const std::exception& error) {
      abort_with(group_, error);
      throw;
    }
  });
}

Replica::~Replica() = default;

std::size_t Replica::gradient_bytes() const {
  const std::size_t sums = tree_ != nullptr ? tree_->sums.size_bytes() : 0;
  return buckets_->gradient_bytes() + lock_step_->reduced_bytes() + sums;
}

ParameterMemory Replica::memory_for(const BucketLayout& layout) {
  const std::size_t size_bytes = std::max<std::size_t>(layout.count, 1) * sizeof(float);
  return {group_, arena_, size_bytes, settings_.copies};
}

UpdateTime update_time(const ReplicaSettings& settings) {
  if (settings.torch_optimizer != nullptr) return UpdateTime::kByEveryRank;
  const bool waits = settings.clip_norm > 0 || settings.skip_non_finite;
  return waits ? UpdateTime::kAfterVote : UpdateTime::kWhenReduced;
}

BucketLayout Replica::planned_layout(const std::vector<at::Tensor>& parameters,
                                     const std::vector<std::size_t>& order) const {
  return layout_for(element_counts(parameters), order, group_.size(), settings_.bucket_bytes / sizeof(float));
}

Verdict Replica::step(const StepInfo& info, const Load& load) {
  open(info);
  load_ = &load;
  info_ = &info;
  // A backward outside of a step keeps its gradients, even after a step that failed.
  const std::unique_ptr<const StepInfo*, void (*)(const StepInfo**)> over(
      &info_, [](const StepInfo** i) { *i = nullptr; });
  const auto num_buckets = static_cast<int>(buckets_->layout().buckets.size());
  engine_->run(data_parallel_program(info.slots, num_buckets, update_time(), copies()));
  if (!intake_->order_is_known()) follow_observed_order();
  return verdict_;
}

void Replica::open(const StepInfo& info) {
  if (const auto detached = buckets_->first_detached()) {
    throw UsageError(
        UsageError(fmt::format("the memory of parameter '{}' was replaced while a trainer uses it",
                               tensors_.parameters[*detached].name))
            .with_remedy("Copy values into a parameter, with copy_(), or make the trainer afterwards."));
  }
  tally_ = {};
  slot_losses_.clear();
  slots_left_ = info.slots.size();
  intake_->begin_round();
  for (const at::Tensor& parameter : buckets_->parameters()) parameter.mutable_grad() = at::Tensor();
  lock_step_->open({.learning_rate = info.learning_rate,
                    .gradient_scale = 1 / info.weight,
                    .clip_value = settings_.clip_value});
  buffers_.open();
  if (info.hash_replica &&
      copies() == Copies::kPerRank) {  // before the update, which would hide or spread a difference
    const Numbers values = buckets_->all_values();
    tally_.replica_hash = content_hash({values.data, values.size_bytes()});
    tally_.has_hash = 1;
  }
}

void Replica::perform(const Action& action) {
  switch (action.kind) {
    case ActionKind::kLoad:
      batch_ = (*load_)(action.slot);
      return;
    case ActionKind::kForward:
      return forward(action.slot);
    case ActionKind::kBackward:
      return backward();
    case ActionKind::kVote:
      return settle();
    case ActionKind::kReduce:
      return lock_step_->reduce(action.bucket);
    case ActionKind::kUpdate:
      if (verdict_.kind == Verdict::Kind::kApply) lock_step_->update(action.bucket);
      return;
    case ActionKind::kApply:
      return lock_step_->apply(action.bucket);
    case ActionKind::kMeet:
      return lock_step_->meet();
    case ActionKind::kGather:
      if (verdict_.kind == Verdict::Kind::kApply) lock_step_->gather(action.bucket);
      return;
    case ActionKind::kGatherGradients:
      if (verdict_.kind == Verdict::Kind::kApply) lock_step_->gather_gradients(action.bucket);
      return;
    case ActionKind::kOptimize:
      if (verdict_.kind == Verdict::Kind::kApply) optimize();
      return;
    case ActionKind::kFill:
      return;
  }
}

void Replica::forward(int slot) {
  if (tree_ != nullptr) {
    intake_->begin_round();  // each slot's gradients are summed on their own
  } else {
    intake_->begin_backward();
  }
  if (batch_.samples.empty()) return;
  const auto step = static_cast<std::uint64_t>(info_->step);
  // Random layers of Cohort draw by position; random layers of torch share one generator.
  torch::manual_seed(RandomStream(settings_.seed, step).bits(static_cast<std::uint64_t>(slot)));
  set_step(*module_, {.seed = settings_.seed, .step = step, .samples = batch_.samples});
  buffers_.open_slot();
  const Evaluation evaluation = objective_(batch_);
  check_loss(evaluation.loss);
  loss_ = evaluation.loss;
  const double loss = loss_.item<double>();
  if (!std::isfinite(loss) && tally_.bad_slot < 0) {
    tally_.bad_slot = slot;
    bad_loss_ = loss;
  }
  slot_losses_.push_back(loss);
  tally_.weight += evaluation.weight;
  tally_.correct += evaluation.correct;
  tally_.counted += evaluation.counted;
  buffers_.slot_done(evaluation.weight);
}

void Replica::backward() {
  if (--slots_left_ == 0) intake_->expect_last();
  if (!batch_.samples.empty()) {
    const GradientPool::Use use(buckets_->pool());
    loss_.backward();
    loss_ = at::Tensor();
  }
  if (tree_ != nullptr) add_to_tree();
  if (slots_left_ == 0) intake_->end_round();
}

void Replica::add_to_tree() {
  const Numbers gradients = buckets_->all_gradients();
  if (batch_.samples.empty()) {
    std::memset(gradients.data, 0, gradients.size_bytes());
  } else {
    for (std::size_t p = 0; p < buckets_->parameters().size(); ++p) {
      if (!intake_->has_arrived(p)) buckets_->gradient(p).zero_();
    }
  }
  tree_->sums.add({reinterpret_cast<float*>(gradients.data), gradients.count},
                  info_->slots.size() - slots_left_ - 1, info_->slots.size());
}

// A backward outside of a step, of the user's own code, keeps its gradients at the parameters.
bool Replica::accepts(std::size_t) {
  return info_ != nullptr;
}

void Replica::store(std::size_t p, at::Tensor gradient, Arrival arrival) {
  switch (arrival) {
    case Arrival::kFirst:
      store_first(p, std::move(gradient));
      break;
    case Arrival::kNextBackward:
      buckets_->gradient(p).add_(gradient);
      break;
    case Arrival::kNextPart:
      add_part(p, gradient);
      break;
    case Arrival::kLatePart:
      refuse_late_part(p);
  }
  lock_step_->touched(p);
}

// Autograd has left the gradient in memory of its own. That memory is adopted, or copied to the bucket and
// freed: both cost less than adding to a bucket that had to be zeroed.
void Replica::store_first(std::size_t p, at::Tensor gradient) {
  if (buckets_->can_adopt(p, gradient)) return buckets_->adopt(p, std::move(gradient));
  buckets_->provide(p);
  buckets_->gradient(p).copy_(gradient);
}

// Backward may still read the memory of the first part: the sum goes to other memory.
void Replica::add_part(std::size_t p, const at::Tensor& gradient) {
  const at::Tensor sum = buckets_->gradient(p) + gradient;
  buckets_->release(p);
  buckets_->provide(p);
  buckets_->gradient(p).copy_(sum);
}

void Replica::refuse_late_part(std::size_t p) const {
  throw UsageError(
      UsageError(
          fmt::format("the gradient of parameter '{}' came in two parts, and the first was used already",
                      tensors_.parameters[p].name))
          .with_remedy("The first step shows which gradients come in parts: let it use the module as later "
                       "steps do."));
}

void Replica::full(std::size_t bucket) {
  engine_->filled(static_cast<int>(bucket));
}

// All ranks know of the loss by the vote and throw the same error.
void Replica::refuse(const BadLoss& bad) const {
  raise(Error(ErrorCode::kDiverged, fmt::format("the loss is {} on rank {}, step {}, slot {}", bad.loss,
                                                bad.rank, info_->step, bad.slot))
            .with_rank(bad.rank)
            .with_remedy("Lower TrainerOptions::optimizer.learning_rate, clip gradients with "
                         "TrainerOptions::clip_grad_norm, look for bad samples, or set "
                         "TrainerOptions::skip_non_finite = true."));
}

void Replica::refuse_norm() const {
  raise(Error(ErrorCode::kDiverged,
              fmt::format("the norm of the gradient is {} in step {}", verdict_.gradient_norm, info_->step))
            .with_remedy("Lower TrainerOptions::optimizer.learning_rate, look for bad samples, or set "
                         "TrainerOptions::skip_non_finite = true."));
}

void Replica::settle() {
  tally_.loss = tally_.bad_slot < 0 ? sum_as_tree(slot_losses_) : bad_loss_;
  tally_.wants_to_stop = info_->wants_to_stop ? 1 : 0;
  if (update_time() != UpdateTime::kWhenReduced) {
    if (settings_.summation == Summation::kByTree) lock_step_->gather_all_gradients();
    tally_.square_sum = lock_step_->square_sum();
  }
  verdict_ = vote(group_, tally_, settings_.summation);
  verdict_.gradient_norm *= verdict_.weight / info_->weight;  // the norm of the gradient that is applied
  if (verdict_.bad_loss && !settings_.skip_non_finite) refuse(*verdict_.bad_loss);
  if (settings_.skip_non_finite && !std::isfinite(verdict_.gradient_norm + verdict_.loss)) {
    verdict_.kind = Verdict::Kind::kSkip;
    buffers_.drop();
    return;
  }
  if (update_time() != UpdateTime::kWhenReduced && !std::isfinite(verdict_.gradient_norm)) refuse_norm();
  buffers_.merge();
  double scale = 1 / info_->weight;
  if (settings_.clip_norm > 0 && verdict_.gradient_norm > settings_.clip_norm) {
    scale *= settings_.clip_norm / verdict_.gradient_norm;
  }
  lock_step_->set_terms(
      {.learning_rate = info_->learning_rate, .gradient_scale = scale, .clip_value = settings_.clip_value});
}

void Replica::optimize() {
  const StepTerms terms = lock_step_->terms();
  std::vector<bool> used;
  for (std::size_t p = 0; p < buckets_->parameters().size(); ++p) used.push_back(lock_step_->is_used(p));
  settings_.torch_optimizer->step(*buckets_, used, terms);
}

void Replica::follow_observed_order() {
  const auto order = intake_->learn_order(group_);
  if (!order) return;
  BucketLayout layout = planned_layout(buckets_->parameters(), *order);
  ParameterMemory memory = memory_for(layout);
  lock_step_->move_to(std::move(layout), std::move(memory), arena_);
}

}  // namespace cohort::train
