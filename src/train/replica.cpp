#include "train/replica.h"

#include "base/checksum.h"
#include "reduce/slot_tree.h"
#include "train/abort.h"
#include "train/action_trace.h"
#include "train/divergence.h"
#include "train/evaluator.h"
#include "train/masks.h"
#include "train/module_tensors.h"
#include "train/optimizer_groups.h"
#include "train/tensor_pieces.h"
#include <cohort/tensor.h>

#include <ATen/ATen.h>
#include <cmath>
#include <fmt/format.h>
#include <torch/nn/module.h>

namespace cohort::train {

Replica::Replica(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module,
                 Computation computation, std::vector<ParameterUpdate> updates,
                 const ReplicaSettings& settings)
    : group_(group),
      arena_(arena),
      module_(std::move(module)),
      computation_(std::move(computation)),
      settings_(settings),
      tensors_(tensors_of(*module_)),
      lanes_(group_, settings_.sync.near_groups()),
      buffers_(group_, tensors_) {
  or_abort(lanes_, [&] { make_parts(std::move(updates)); });
}

// Ranks wait for each other in the groups of lanes: a failure must reach these before they are destroyed.
void Replica::make_parts(std::vector<ParameterUpdate> updates) {
  check_trainable(tensors_, settings_.precision.parameters);
  check_same_module(group_, tensors_);
  connect_layers();
  std::vector<at::Tensor> parameters = plain(tensors_.parameters);
  bucket_order_ = expected_order(parameters.size());
  BucketLayout layout = planned_layout(parameters, bucket_order_);
  ParameterMemory memory = memory_for(layout);
  const bool sums_micro_batches = settings_.summation == Summation::kByTree;
  const bool is_flat = settings_.sync.sums_in_place() || settings_.torch_optimizer != nullptr;
  buckets_ = std::make_unique<BucketSet>(arena_, parameters, std::move(layout), std::move(memory),
                                         is_flat ? GradientMemory::kFlat : GradientMemory::kPooled);
  synchronizers_ = std::make_unique<Synchronizers>(lanes_, *buckets_, std::move(updates), settings_.sync);
  send_parameters();
  begin_post_steps();
  synchronizers_->update().begin_masters();
  for (const auto* each : {&tensors_.frozen, &tensors_.buffers, &tensors_.counters}) {
    send_from_first(group_, *each);
  }
  store_ = std::make_unique<GradientStore>(
      *buckets_, tensors_.parameters,
      GradientStore::Listener{
          .stored = [this](std::size_t parameter) { synchronizers_->touched(parameter); },
          .full = [this](std::size_t bucket) { engine_->filled(static_cast<int>(bucket)); }});
  intake_ = std::make_unique<GradientIntake>(
      *buckets_, *store_, sums_micro_batches ? ReportFull::kAtEnd : ReportFull::kDuringBackward);
  micro_batches_ = std::make_unique<MicroBatches>(MicroBatches::Parts{.module = *module_,
                                                                      .computation = computation_,
                                                                      .buffers = buffers_,
                                                                      .buckets = *buckets_,
                                                                      .intake = *intake_,
                                                                      .layers = *layers_,
                                                                      .seed = settings_.seed,
                                                                      .summation = settings_.summation,
                                                                      .loss_factor = settings_.loss_factor,
                                                                      .precision = settings_.precision});
  engine_ =
      std::make_unique<Engine>(lanes_.num_lanes(), [this](const Action& action) { perform_for_all(action); });
}

void Replica::connect_layers() {
  check_same_layers(group_, *module_);
  layers_ = std::make_unique<nn::SynchronisedLayers>(group_, *module_);
  lanes_.also_use(layers_->communicators());
  if (layers_->empty() || settings_.summation != Summation::kByTree) return;
  throw UsageError(
      UsageError("TrainerOptions::deterministic is kAnyWorld, but the model has synchronised batch "
                 "normalisation, which computes with as many micro-batches at once as there are ranks")
          .with_remedy("Set TrainerOptions::deterministic to kWorld, or take local batch normalisation."));
}

Replica::~Replica() = default;

Copies Replica::copies() const {
  if (!buckets_->has_common_values()) return Copies::kPerRank;
  return lanes_[1].is_on_one_host() ? Copies::kOne : Copies::kPerHost;
}

// Rank 0 has the first place on its host, and sends to those in the first place on the others.
void Replica::send_parameters() {
  if (copies() == Copies::kOne) return;
  if (copies() == Copies::kPerRank) return send_from_first(group_, tensors_.parameters);
  if (lanes_[1].near()->rank() == 0) send_from_first(*lanes_[1].across(), tensors_.parameters);
  value_or_throw(lanes_[1].near()->run(barrier()));
}

// One rank of those that share a copy writes the zeros.
void Replica::begin_post_steps() {
  if (!asks_for_masks(settings_.mask) && settings_.average.kind == AverageKind::kNone) return;
  const ParameterMasks masks = make_masks(group_, tensors_, settings_.mask);
  if (buckets_->owns_values()) hold_at_zero(tensors_, masks);
  if (buckets_->has_common_values()) value_or_throw(lanes_[1].near()->run(barrier()));
  synchronizers_->update().begin_post_steps(settings_.average, masks);
}

std::int64_t Replica::num_masked() {
  std::int64_t count = sharded_update().num_masked();
  value_or_throw(group_.run(all_reduce(std::span(&count, 1))));
  return count;
}

void Replica::set_trace(ActionTrace* trace) {
  trace_ = trace;
  engine_->set_trace(trace);
}

std::size_t Replica::gradient_bytes() const {
  return buckets_->gradient_bytes() + synchronizers_->size_bytes() + micro_batches_->size_bytes();
}

ParameterMemory Replica::memory_for(const BucketLayout& layout) {
  const std::size_t size_bytes = std::max<std::size_t>(
      value_firsts(layout, buckets_ ? buckets_->parameters() : plain(tensors_.parameters)).back(),
      sizeof(float));
  return {lanes_[1], arena_, size_bytes, settings_.sharing};
}

BucketLayout Replica::planned_layout(const std::vector<at::Tensor>& parameters,
                                     const std::vector<std::size_t>& order) const {
  return layout_by_part(element_counts(parameters), order, settings_.sync.part_of, group_.size(),
                        settings_.bucket_bytes / sizeof(float));
}

Verdict Replica::step(const StepInfo& info, const Load& load) {
  const Program program = data_parallel_program(
      {.micro_batches = info.micro_batches,
       .num_stages = computation_.num_stages(),
       .num_buckets = static_cast<int>(buckets_->layout().buckets.size()),
       .bucket_lanes = lanes_.num_bucket_lanes(),
       .update = update_time(),
       .copies = copies(),
       .two_passes = two_pass_buckets(buckets_->layout(), synchronizers_->update().updates()),
       .actions = settings_.sync.actions(buckets_->layout())});
  program_hash_ = common_hash(program);
  open(info, load);
  const GradientStore::Opened opened =
      store_->open();  // after a failure, too, later gradients stay at their parameters
  engine_->run(program);
  if (verdict_.kind == Verdict::Kind::kApply) synchronizers_->close();
  if (!intake_->order_is_known()) follow_observed_order();
  return verdict_;
}

void Replica::open(const StepInfo& info, const Load& load) {
  info_ = info;
  buckets_->check_attached(tensors_.parameters);
  if (trace_ != nullptr) trace_->begin_step(info.step);
  micro_batches_->open(info.step, info.micro_batches.size(), load, info.precision);
  for (const at::Tensor& parameter : buckets_->parameters()) parameter.mutable_grad() = at::Tensor();
  synchronizers_->open(terms(/*scale=*/1));
  verdict_ = {};
  replica_hash_ = 0;
  if (info.hash_replica &&
      copies() != Copies::kOne) {  // before the update, which would hide or spread a difference
    replica_hash_ = content_hash(buckets_->value_bytes());
  }
}

// A failure of any action ends the calls of all lanes, here and on the other ranks.
void Replica::perform_for_all(const Action& action) {
  try {
    perform(action);
  } catch (const std::exception& error) {
    abort_with(lanes_, error);
    throw;
  }
}

void Replica::perform(const Action& action) {
  const bool counts = verdict_.kind == Verdict::Kind::kApply;
  switch (action.verb) {
    case Verb::kLoad:
    case Verb::kForward:
    case Verb::kBackward:
      return micro_batches_->perform(action);
    case Verb::kWeigh:
      return weigh(action);
    case Verb::kVote:
      return settle();
    case Verb::kReduce:
    case Verb::kApply:
    case Verb::kMeet:
      return synchronizers_->perform(action);
    case Verb::kPrepare:
    case Verb::kCombine:
    case Verb::kUpdate:
    case Verb::kGather:
    case Verb::kGatherGradients:
      if (counts) synchronizers_->perform(action);
      return;
    case Verb::kOptimize:
      if (counts) optimize();
      return;
    case Verb::kFill:
      return;
  }
}

StepTerms Replica::terms(double scale) const {
  return {.learning_rate = info_.learning_rate,
          .gradient_scale = scale / info_.precision.loss_scale,
          .clip_value = settings_.clip_value,
          .momentum = info_.momentum};
}

// Every sample counts as much as any other: the sum of all gradients is divided by the sum of all weights.
void Replica::weigh(const Action& action) {
  const double mine = micro_batches_->weight();
  std::vector<double> all(static_cast<std::size_t>(lanes_.size()));
  const Call call = all_gather(std::span<const double>(&mine, 1), std::span(all));
  value_or_throw(lanes_[action.lane].all().run(call));
  const double weight = sum_as_tree(all);
  check_weight(group_, weight, fmt::format("of step {}", info_.step));
  synchronizers_->update().set_terms(terms(1 / weight));
}

void Replica::settle() {
  Tally tally = micro_batches_->tally();
  tally.program_hash = program_hash_;
  tally.replica_hash = replica_hash_;
  tally.has_hash = info_.hash_replica && copies() != Copies::kOne ? 1 : 0;
  tally.wants_to_stop = info_.wants_to_stop ? 1 : 0;
  tally.wants_to_save = info_.wants_to_save ? 1 : 0;
  const bool is_before_update = update_time() != UpdateTime::kWhenReduced;
  if (is_before_update) synchronizers_->add_to(tally);
  verdict_ = vote(group_, tally);
  verdict_.gradient_norm /= info_.precision.loss_scale;
  const bool may_skip = settings_.skip_non_finite || skips_overflows(settings_.precision);
  if (verdict_.bad_loss && !may_skip) refuse_loss(*verdict_.bad_loss, info_.step);
  check_weight(group_, verdict_.weight, fmt::format("of step {}", info_.step));
  if (may_skip && !std::isfinite(verdict_.gradient_norm + verdict_.loss)) {
    verdict_.kind = Verdict::Kind::kSkip;
    buffers_.drop();
    return;
  }
  if (is_before_update && !std::isfinite(verdict_.gradient_norm))
    refuse_norm(verdict_.gradient_norm, info_.step);
  buffers_.merge();
  double scale = 1 / verdict_.weight;
  if (settings_.clip_norm > 0 && verdict_.gradient_norm > settings_.clip_norm) {
    scale *= settings_.clip_norm / verdict_.gradient_norm;
  }
  if (is_before_update) synchronizers_->update().set_terms(terms(scale));
}

void Replica::optimize() {
  std::vector<bool> used;
  for (std::size_t p = 0; p < buckets_->parameters().size(); ++p) used.push_back(synchronizers_->is_used(p));
  settings_.torch_optimizer->step(*buckets_, used, synchronizers_->update().terms());
  synchronizers_->update().average_parameters();
}

void Replica::visit(const StateVisitor& visitor) {
  visit_module(tensors_, visitor, buckets_->has_common_values() ? PieceMemory::kOfHost : PieceMemory::kOwn);
  if (solver_ != nullptr) return solver_->visit(visitor);
  if (settings_.torch_optimizer != nullptr) {
    settings_.torch_optimizer->visit(tensors_, visitor);
    return synchronizers_->update().visit_post_steps(tensors_.parameters, visitor);
  }
  synchronizers_->update().visit(tensors_.parameters, visitor);
}

std::vector<checkpoint::OptimizerGroup> Replica::optimizer_groups() const {
  if (solver_ != nullptr) return {};
  const TorchOptimizer* const of_torch = settings_.torch_optimizer;
  if (of_torch != nullptr) return train::optimizer_groups(of_torch->optimizer(), tensors_);
  return train::optimizer_groups(synchronizers_->update(), tensors_.parameters);
}

void Replica::follow_observed_order() {
  if (const auto order = intake_->learn_order(group_)) move_to_order(*order);
}

void Replica::set_bucket_order(const std::vector<std::size_t>& order) {
  intake_->keep_order();
  if (order != bucket_order_) move_to_order(order);
}

void Replica::move_to_order(const std::vector<std::size_t>& order) {
  BucketLayout layout = planned_layout(buckets_->parameters(), order);
  ParameterMemory memory = memory_for(layout);
  synchronizers_->move_to(std::move(layout), std::move(memory), arena_);
  bucket_order_ = order;
}

}  // namespace cohort::train
