#include "train/settings.h"

#include "layout/batch_plan.h"

#include "train/snapshots.h"
#include "train/solver_options.h"
#include "update/average.h"
#include "update/groups.h"
#include "update/mask.h"
#include "update/momentum.h"
#include "update/schedule.h"
#include "update/settings.h"
#include "update/two_passes.h"

#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <malloc.h>
#include <torch/nn/module.h>

namespace cohort::train {
namespace {

bool is_power_of_two(int number) {
  return number > 0 && (number & (number - 1)) == 0;
}

[[noreturn]] void refuse(std::string message, std::string remedy) {
  throw UsageError(UsageError(std::move(message)).with_remedy(std::move(remedy)));
}

}  // namespace

int slots_of(const TrainerOptions& options, int world) {
  return options.micro_batches.value_or(world);
}

std::vector<int> turns_of(const TrainerOptions& options, int world, int rank, Turns turns) {
  const int slots = slots_of(options, world);
  std::vector<int> all = deal(slots, world, rank);
  const auto most = static_cast<std::size_t>((slots + world - 1) / world);
  if (turns == Turns::kTogether && all.size() < most) all.push_back(slots);
  return all;
}

namespace {

struct Bound {
  const char* name;
  double value;
  double least;
  double below;  ///< the first value that is too large
};

void check_bounds(const TrainerOptions& options) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  constexpr double kAboveZero = std::numeric_limits<double>::denorm_min();
  constexpr double kLeastFloat = std::numeric_limits<float>::min();
  constexpr double kLargestFloat = std::numeric_limits<float>::max();
  value_or_throw(check_settings(options.optimizer));
  value_or_throw(update::check_average(options.average));
  value_or_throw(update::check_mask(options.mask));
  const ScaleOptions& scale = options.precision.loss_scale;
  const auto number = [](auto value) { return static_cast<double>(value); };
  if (options.checkpoint) check_checkpoint_options(*options.checkpoint);
  const Bound bounds[] = {
      {"clip_grad_norm", options.clip_grad_norm.value_or(1), kAboveZero, kAny},
      {"clip_grad_value", options.clip_grad_value.value_or(1), kAboveZero, kAny},
      {"batch_size", number(options.batch_size.value_or(1)), 1, kAny},
      {"micro_batches", number(options.micro_batches.value_or(1)), 1, kAny},
      {"epochs", number(options.epochs), 0, kAny},
      {"steps", number(options.steps.value_or(0)), 0, kAny},
      {"evaluate_every", number(options.evaluate_every.value_or(1)), 1, kAny},
      {"patience", number(options.patience.value_or(1)), 1, kAny},
      {"copies_every", number(options.copies_every), 1, kAny},
      {"hash_every", number(options.hash_every.value_or(1)), 1, kAny},
      {"bucket_bytes", number(options.bucket_bytes), 1, kAny},
      {"precision.loss_scale.init_scale", scale.init_scale, kLeastFloat, kLargestFloat},
      {"precision.loss_scale.growth_factor", scale.growth_factor, 1, kAny},
      {"precision.loss_scale.backoff_factor", scale.backoff_factor, kAboveZero, 1},
      {"precision.loss_scale.growth_interval", number(scale.growth_interval), 1, kAny},
      {"precision.loss_scale.hysteresis", number(scale.hysteresis), 1, kAny},
      {"precision.least_loss_scale", options.precision.least_loss_scale, 0, kAny},
      {"precision.fallback_steps", number(options.precision.fallback_steps.value_or(1)), 1, kAny},
      {"loader_threads", number(options.loader_threads), 1, kAny},
      {"prefetch", number(options.prefetch), 1, kAny}};
  for (const Bound& bound : bounds) {
    if (bound.value >= bound.least && bound.value < bound.below) continue;
    refuse(fmt::format("TrainerOptions::{} is {}", bound.name, bound.value),
           bound.least == kAboveZero ? std::string("Give a finite number above 0, or leave it out.")
           : bound.below == kAny
               ? fmt::format("Give a finite number of at least {}.", bound.least)
               : fmt::format("Give a number from {} to below {}.", bound.least, bound.below));
  }
}

void check_precision(const Precision& precision) {
  if (precision.parameters == DType::kF32) return;
  if (precision.parameters != DType::kBF16) {
    refuse(fmt::format("TrainerOptions::precision.parameters is {}, expected f32 or bf16",
                       name(precision.parameters)),
           "Use bf16: the range of f16 is too small for parameters and gradients.");
  }
  if (resolved(precision.compute) != ComputeType::kBF16) {
    refuse("TrainerOptions::precision.parameters is bf16, but training computes in f32",
           precision.compute == ComputeType::kAuto
               ? "This machine has no instructions for bf16: leave the parameters in f32, or set "
                 "TrainerOptions::precision.compute = ComputeType::kBF16."
               : "Set TrainerOptions::precision.compute = ComputeType::kBF16 as well.");
  }
  if (precision.fallback_steps) {
    refuse("TrainerOptions::precision.fallback_steps is set, but there are no f32 parameters to compute with",
           "Leave it out, or keep TrainerOptions::precision.parameters in f32.");
  }
}

}  // namespace

namespace {

void check_rank_factors(const TrainerOptions& options, int world) {
  const std::vector<double>& factors = options.rank_factors;
  if (factors.empty()) return;
  constexpr const char* kRemedy = "Give one finite number of at least 0 for each rank, one of them above 0.";
  if (factors.size() != static_cast<std::size_t>(world)) {
    refuse(fmt::format("TrainerOptions::rank_factors has {} number{}, expected {}, one for each rank",
                       factors.size(), factors.size() == 1 ? "" : "s", world),
           kRemedy);
  }
  for (const double factor : factors) {
    if (std::isfinite(factor) && factor >= 0) continue;
    refuse(fmt::format("TrainerOptions::rank_factors has the number {}", factor), kRemedy);
  }
  if (*std::max_element(factors.begin(), factors.end()) == 0) {
    refuse("TrainerOptions::rank_factors has no number above 0", kRemedy);
  }
  if (options.deterministic == Deterministic::kAnyWorld) {
    refuse(
        "TrainerOptions::rank_factors depends on the number of ranks, and Deterministic::kAnyWorld does not",
        "Leave one of them out.");
  }
}

void check_learning_rates(const TrainerOptions& options) {
  value_or_throw(check_schedule(options.schedule));
  const auto* const plateau = std::get_if<learning_rate::Plateau>(&options.schedule.curve);
  const bool watches_evaluations =
      plateau != nullptr && plateau->metric == learning_rate::Plateau::Metric::kEvaluation;
  if (watches_evaluations && !options.evaluate_every) {
    refuse("learning_rate::Plateau watches evaluations, and TrainerOptions::evaluate_every is not set",
           "Set TrainerOptions::evaluate_every, or the metric of the Plateau to kTraining.");
  }
}

}  // namespace

void check_momentum(const TrainerOptions& options) {
  if (!momentum_at(options.schedule, 0) || has_momentum(options.optimizer)) return;
  refuse("learning_rate::OneCycle::cycle_momentum is set, but the optimizer has no momentum that may change",
         "Set TrainerOptions::optimizer.momentum above 0, or cycle_momentum to false.");
}

void check_test_data(const TrainerOptions& options, const Dataset* test) {
  const auto* const plateau = std::get_if<learning_rate::Plateau>(&options.schedule.curve);
  if (test != nullptr || plateau == nullptr) return;
  if (plateau->metric == learning_rate::Plateau::Metric::kTraining) return;
  refuse(
      "learning_rate::Plateau watches evaluations, and there is no data to evaluate with",
      "Give fit() test data, or set the metric of the Plateau to kTraining: schedule.metric in a job file.");
}

void check_options(const TrainerOptions& options, int world) {
  check_bounds(options);
  check_precision(options.precision);
  check_learning_rates(options);
  check_rank_factors(options, world);
  check_solver_options(options);
  const int slots = slots_of(options, world);
  const OptimizerSettings optimizer = with_defaults(options.optimizer);
  if (optimizer.nesterov.value_or(false) && optimizer.momentum.value_or(0) == 0) {
    refuse("TrainerOptions::optimizer.nesterov requires a momentum above 0, and it is 0",
           "Set TrainerOptions::optimizer.momentum, or nesterov to false.");
  }
  const bool names_folder =
      !options.directory.empty() || (options.checkpoint && !options.checkpoint->directory.empty());
  const bool needs_folder = options.checkpoint || (options.resume && options.resume->empty());
  if (needs_folder && !names_folder) {
    refuse(
        "CheckpointOptions::directory and TrainerOptions::directory are empty, so snapshots have no folder",
        "Set CheckpointOptions::directory or TrainerOptions::directory.");
  }
  if (slots < world) {
    refuse(fmt::format("{} micro-batches are too few for {} ranks", slots, world),
           "Give at least one micro-batch per rank, or leave TrainerOptions::micro_batches out.");
  }
  if (options.deterministic == Deterministic::kAnyWorld &&
      (!options.micro_batches || !is_power_of_two(slots) || !is_power_of_two(world))) {
    refuse(fmt::format("TrainerOptions::deterministic = Deterministic::kAnyWorld requires "
                       "TrainerOptions::micro_batches and a number of ranks that are a power of two each, "
                       "found {} micro-batches on {} ranks",
                       options.micro_batches.value_or(0), world),
           "Set TrainerOptions::micro_batches to 8, for example, and use 1, 2, 4 or 8 ranks.");
  }
}

void check_torch_options(const TrainerOptions& options) {
  constexpr const char* kRemedy =
      "Set it on the optimizer of torch, in its options and parameter groups, and leave it out here.";
  if (options.solver) {
    refuse("TrainerOptions::solver is set, but the Trainer was given an optimizer of torch",
           "Leave one of them out.");
  }
  if (!(options.optimizer == OptimizerSettings{})) {
    refuse("TrainerOptions::optimizer is set, but the Trainer was given an optimizer of torch", kRemedy);
  }
  if (options.precision.parameters != DType::kF32) {
    refuse("TrainerOptions::precision.parameters is bf16, but the Trainer was given an optimizer of torch",
           "Optimizers of torch update bf16 parameters without an f32 copy, in which small updates are lost: "
           "use an optimizer of Cohort, or leave the parameters in f32.");
  }
  if (!options.groups.empty()) {
    refuse("TrainerOptions::groups is set, but the Trainer was given an optimizer of torch", kRemedy);
  }
}

UpdateTime update_time(const ReplicaSettings& settings) {
  if (settings.torch_optimizer != nullptr) return UpdateTime::kByEveryRank;
  const bool may_skip = settings.skip_non_finite || skips_overflows(settings.precision);
  if (settings.clip_norm > 0 || may_skip || settings.makes_two_passes) {
    return UpdateTime::kAfterVote;
  }
  return UpdateTime::kWhenReduced;
}

ReplicaSettings replica_settings(const TrainerOptions& options) {
  return {.seed = options.seed,
          .summation =
              options.deterministic == Deterministic::kAnyWorld ? Summation::kByTree : Summation::kByRank,
          .clip_norm = options.clip_grad_norm.value_or(0),
          .clip_value = options.clip_grad_value.value_or(0),
          .skip_non_finite = options.skip_non_finite,
          .makes_two_passes = update::has_two_passes(options.optimizer),
          .precision = options.precision,
          .bucket_bytes = options.bucket_bytes,
          .sharing = options.one_copy ? Sharing::kWherePossible : Sharing::kNone,
          .average = options.average,
          .mask = options.mask};
}

std::vector<GroupSettings> check_groups(const TrainerOptions& options, const torch::nn::Module& module) {
  std::vector<std::string> names;
  for (const NamedTensor& named : tensors_of(module).parameters) names.push_back(named.name);
  auto settings = value_or_throw(settings_by_name(options.groups, names));
  if (std::all_of(settings.begin(), settings.end(),
                  [](const GroupSettings& each) { return each.is_frozen; })) {
    refuse("the module has no parameter to train", "Register one, or unfreeze one.");
  }
  const bool has_rates = std::any_of(settings.begin(), settings.end(),
                                     [](const GroupSettings& each) { return each.learning_rate; });
  if (has_rates && learning_rate_of(options.optimizer) == 0) {
    refuse(
        "TrainerOptions::groups has learning rates, but TrainerOptions::optimizer.learning_rate is 0: there "
        "is no curve to follow",
        "Set TrainerOptions::optimizer.learning_rate, and give the other parameters a learning rate of 0 in "
        "a "
        "last group with the pattern \"*\".");
  }
  return settings;
}

Frozen::Frozen(const TrainerOptions& options, const torch::nn::Module& module) {
  const std::vector<GroupSettings> settings = check_groups(options, module);
  const ModuleTensors tensors = tensors_of(module);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (settings[i].is_frozen) tensors_.push_back(tensors.parameters[i].tensor);
  }
  for (at::Tensor& tensor : tensors_) tensor.set_requires_grad(false);
}

Frozen::~Frozen() {
  for (at::Tensor& tensor : tensors_) tensor.set_requires_grad(true);
}

std::vector<ParameterUpdate> updates_of(const TrainerOptions& options, const torch::nn::Module& module) {
  std::vector<ParameterUpdate> updates;
  const double usual_rate = learning_rate_of(options.optimizer);
  for (const NamedTensor& named : tensors_of(module).parameters) {
    const GroupSettings settings = settings_of(options.groups, named.name);
    const Shape shape(named.tensor.sizes().begin(), named.tensor.sizes().end());
    ParameterUpdate& update =
        updates.emplace_back(ParameterUpdate{.optimizer = optimizer_for(options.optimizer, shape)});
    update.optimizer.weight_decay = settings.weight_decay.value_or(options.optimizer.weight_decay);
    const double rate = settings.learning_rate.value_or(learning_rate_of(update.optimizer));
    update.rate_factor = rate == usual_rate ? 1 : rate / usual_rate;
    if (!settings.learning_rate) update.rate_factor *= settings.learning_rate_factor.value_or(1);
  }
  return updates;
}

std::string settle_in(int threads) {
  constexpr int kNever = 1 << 30;
  const bool keeps = ::mallopt(M_MMAP_THRESHOLD, kNever) == 1 && ::mallopt(M_TRIM_THRESHOLD, kNever) == 1;
  at::set_num_threads(threads);
  return fmt::format(
      "{} compute thread{}; {}", threads, threads == 1 ? "" : "s",
      keeps ? "the allocator keeps large blocks" : "the allocator could not be told to keep large blocks");
}

}  // namespace cohort::train
