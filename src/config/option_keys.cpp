#include "config/option_keys.h"

namespace cohort::config {
namespace {

struct Row {
  std::string_view option;
  std::string_view key;
};

constexpr Row kRows[] = {
    {"TrainerOptions::optimizer.kind", "optimizer.name"},
    {"TrainerOptions::optimizer.betas.first", "the first number of optimizer.betas"},
    {"TrainerOptions::optimizer.betas.second", "the second number of optimizer.betas"},
    {"TrainerOptions::optimizer.", "optimizer."},
    {"TrainerOptions::solver", "a solver as optimizer.name"},
    {"SolverSettings::kind", "optimizer.name"},
    {"SolverSettings::", "optimizer."},
    {"LineSearch::kNone", "\"none\""},
    {"TrainerOptions::schedule", "[schedule]"},
    {"learning_rate::Plateau", "schedule.name = \"plateau\""},
    {"learning_rate::OneCycle::cycle_momentum", "schedule.cycle_momentum"},
    {"TrainerOptions::groups", "optimizer.groups"},
    {"TrainerOptions::clip_grad_norm", "optimizer.clip_grad_norm"},
    {"TrainerOptions::clip_grad_value", "optimizer.clip_grad_value"},
    {"TrainerOptions::skip_non_finite", "optimizer.skip_non_finite"},
    {"TrainerOptions::precision.compute", "precision.compute"},
    {"TrainerOptions::precision.parameters", "precision.parameters"},
    {"TrainerOptions::precision.loss_scaling", "precision.loss_scale"},
    {"TrainerOptions::precision.loss_scale.init_scale", "precision.initial_scale"},
    {"TrainerOptions::precision.loss_scale.growth_factor", "precision.growth_factor"},
    {"TrainerOptions::precision.loss_scale.backoff_factor", "precision.backoff_factor"},
    {"TrainerOptions::precision.loss_scale.growth_interval", "precision.growth_interval"},
    {"TrainerOptions::precision.loss_scale.hysteresis", "precision.hysteresis"},
    {"TrainerOptions::precision.least_loss_scale", "precision.least_scale"},
    {"TrainerOptions::precision.fallback_steps", "precision.fallback_steps"},
    {"TrainerOptions::average", "average"},
    {"TrainerOptions::mask", "mask"},
    {"AverageKind::kEma", "\"ema\""},
    {"AverageKind::kNone", "\"none\""},
    {"AverageKind::kSwa", "\"swa\""},
    {"TrainerOptions::batch_size", "train.batch_size"},
    {"TrainerOptions::micro_batches", "train.micro_batches"},
    {"TrainerOptions::epochs", "train.epochs"},
    {"TrainerOptions::steps", "train.steps"},
    {"TrainerOptions::evaluate_every", "train.evaluate_every"},
    {"TrainerOptions::patience", "train.patience"},
    {"TrainerOptions::seed", "train.seed"},
    {"TrainerOptions::shuffle", "data.shuffle"},
    {"TrainerOptions::deterministic", "train.deterministic"},
    {"TrainerOptions::directory", "train.directory"},
    {"TrainerOptions::bucket_bytes", "train.bucket_bytes"},
    {"TrainerOptions::hash_every", "train.hash_every"},
    {"TrainerOptions::one_copy", "train.one_copy"},
    {"TrainerOptions::rank_factors", "train.rank_factors"},
    {"TrainerOptions::loader_threads", "data.loader_threads"},
    {"TrainerOptions::prefetch", "data.prefetch"},
    {"CheckpointOptions::every_steps", "checkpoint.every"},
    {"CheckpointOptions::every_time", "checkpoint.every"},
    {"CheckpointOptions::directory", "checkpoint.directory"},
    {"CheckpointOptions::keep_last", "checkpoint.keep_last"},
    {"CheckpointOptions::keep_best", "checkpoint.keep_best"},
    {"CheckpointOptions::keep_every", "checkpoint.keep_every"},
    {"CheckpointOptions::full_every", "checkpoint.full_every"},
    {"TrainerOptions::resume", "--resume"},
    {"ContextOptions::arena_bytes", "launch.shared_memory_per_rank"},
    {"Deterministic::kAnyWorld", "\"any-world\""},
    {"ComputeType::kF32", "\"f32\""},
    {"ComputeType::kBF16", "\"bf16\""},
};

bool goes_on(std::string_view rest) {
  return !rest.empty() && ((rest.front() >= 'a' && rest.front() <= 'z') || rest.front() == '_');
}

const Row* row_at(std::string_view text) {
  for (const Row& row : kRows) {
    const bool is_prefix = row.option.ends_with('.');
    if (text.starts_with(row.option) && (is_prefix || !goes_on(text.substr(row.option.size())))) return &row;
  }
  return nullptr;
}

}  // namespace

std::string with_keys(std::string_view text) {
  std::string worded;
  while (!text.empty()) {
    if (const Row* const row = row_at(text)) {
      worded += row->key;
      text.remove_prefix(row->option.size());
    } else {
      worded += text.front();
      text.remove_prefix(1);
    }
  }
  return worded;
}

}  // namespace cohort::config
