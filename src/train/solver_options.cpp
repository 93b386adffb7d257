#include "train/solver_options.h"

#include "nn/synchronised_layers.h"
#include "solve/settings_table.h"
#include "update/groups.h"

#include <fmt/format.h>
#include <torch/nn/module.h>

namespace cohort::train {
namespace {

struct Misfit {
  bool is_set;
  const char* option;
  const char* reason;
};

void refuse_misfits(const TrainerOptions& options) {
  const TrainerOptions none;
  const bool has_line_search =
      options.solver->kind == SolverKind::kGaussNewton || options.solver->line_search != LineSearch::kNone;
  const Misfit misfits[] = {
      {!(options.optimizer == none.optimizer), "optimizer", "a solver takes its place"},
      {has_line_search && !(options.schedule == none.schedule), "schedule",
       "the solver itself finds the length of a step"},
      {momentum_at(options.schedule, 0).has_value(), "schedule", "a solver has no momentum that changes"},
      {options.clip_grad_norm.has_value(), "clip_grad_norm", "a solver needs the gradient as it is"},
      {options.clip_grad_value.has_value(), "clip_grad_value", "a solver needs the gradient as it is"},
      {options.skip_non_finite, "skip_non_finite", "a trial point whose loss is not finite is never taken"},
      {resolved(options.precision.compute) != ComputeType::kF32, "precision.compute",
       "a solver compares losses that bf16 rounds too much"},
      {options.precision.parameters != DType::kF32, "precision.parameters",
       "a solver compares losses that bf16 rounds too much"},
      {options.precision.loss_scaling != LossScaling::kNone, "precision.loss_scaling",
       "losses that are computed in f32 need no scale"},
      {!(options.average == none.average), "average", "a trial point of a solver is no update to average"},
      {!(options.mask == none.mask), "mask", "a solver moves all parameters that are trained"},
      {options.deterministic == Deterministic::kAnyWorld, "deterministic",
       "gradients of a solver are summed in the order of ranks"},
      {options.bucket_bytes != none.bucket_bytes, "bucket_bytes", "a solver has no buckets"},
      {options.hash_every != none.hash_every, "hash_every",
       "every rank gets all parameters from the others after each iteration"},
      {!options.one_copy, "one_copy", "every rank has a copy of its own with a solver"},
      {options.trace.has_value(), "trace", "an iteration of a solver has no program of actions"}};
  for (const Misfit& misfit : misfits) {
    if (!misfit.is_set) continue;
    throw UsageError(
        UsageError(fmt::format("TrainerOptions::{} is set together with TrainerOptions::solver: {}",
                               misfit.option, misfit.reason))
            .with_remedy(fmt::format("Leave TrainerOptions::{} out.", misfit.option)));
  }
}

void check_group(const ParameterGroup& group) {
  if (!group.learning_rate && !group.learning_rate_factor && !group.reducer && !group.synchronizer) return;
  throw UsageError(
      UsageError(fmt::format("the group '{}' of TrainerOptions::groups has a setting that a solver cannot "
                             "have for some parameters only",
                             text_of(group)))
          .with_remedy("Groups may have weight_decay and frozen with a solver: leave the others out."));
}

}  // namespace

void check_solver_options(const TrainerOptions& options) {
  if (!options.solver) return;
  value_or_throw(check_settings(*options.solver));
  refuse_misfits(options);
  for (const ParameterGroup& group : options.groups) check_group(group);
}

void check_solver_module(const TrainerOptions& options, const torch::nn::Module& module) {
  if (!options.solver) return;
  if (nn::synchronised_layers(const_cast<torch::nn::Module&>(module)).empty()) return;
  throw UsageError(UsageError("TrainerOptions::solver is set, but the model has synchronised batch "
                              "normalisation")
                       .with_remedy("Take local batch normalisation, or an optimizer."));
}

std::vector<ParameterPenalty> penalties_of(const TrainerOptions& options,
                                           const std::vector<NamedTensor>& parameters) {
  std::vector<ParameterPenalty> penalties;
  for (const NamedTensor& named : parameters) {
    const GroupSettings group = settings_of(options.groups, named.name);
    penalties.push_back(
        {.l1 = options.solver->l1, .l2 = group.weight_decay.value_or(options.solver->weight_decay)});
  }
  return penalties;
}

}  // namespace cohort::train
