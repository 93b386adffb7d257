#include "train/same_training.h"

#include "base/checksum.h"
#include "solve/settings_table.h"
#include "train/same_on_all.h"
#include "update/groups.h"
#include "update/schedule.h"
#include "update/settings.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::train {
namespace {

using Values = std::vector<SharedValue>;

std::int64_t as_number(auto value) {
  return static_cast<std::int64_t>(value);
}

Values of_optimizer(const OptimizerSettings& settings) {
  Values values{{"optimizer.kind", std::string(name(settings.kind))},
                {"optimizer.learning_rate", learning_rate_of(settings)}};
  for (const OptimizerSetting& each : used_settings(settings)) {
    const std::string name = fmt::format("optimizer.{}", each.name);
    if (const bool* flag = std::get_if<bool>(&each.value)) {
      values.push_back({name, as_number(*flag)});
    } else if (const double* number = std::get_if<double>(&each.value)) {
      values.push_back({name, *number});
    } else {
      for (const double item : std::get<std::vector<double>>(each.value)) values.push_back({name, item});
    }
  }
  return values;
}

Values of_solver(const std::optional<SolverSettings>& solver) {
  Values values{{"solver.kind", solver ? std::string(name(solver->kind)) : "not set"}};
  if (!solver) return values;
  for (const SolverSetting& each : used_settings(*solver)) {
    values.push_back({fmt::format("solver.{}", each.name), each.value});
  }
  return values;
}

std::string text_of(const std::vector<ParameterGroup>& groups) {
  std::vector<std::string> texts;
  for (const ParameterGroup& group : groups) texts.push_back(cohort::text_of(group));
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Ranks save and resume together.
Values of_checkpoints(const TrainerOptions& options) {
  const CheckpointOptions checkpoint = options.checkpoint.value_or(CheckpointOptions{});
  return {{"checkpoint", as_number(options.checkpoint.has_value())},
          {"checkpoint.every_steps", checkpoint.every_steps.value_or(0)},
          {"checkpoint.background", as_number(checkpoint.background)},
          {"checkpoint.full_every", as_number(checkpoint.full_every)},
          {"resume", options.resume.value_or("not set")},
          {"copies", as_number(options.copies != nullptr)},
          {"copies_every", options.copies_every}};
}

Values of_precision(const Precision& precision) {
  const ScaleOptions& scale = precision.loss_scale;
  return {{"precision.compute", std::string(name(resolved(precision.compute)))},
          {"precision.parameters", std::string(name(precision.parameters))},
          {"precision.loss_scaling", as_number(precision.loss_scaling)},
          {"precision.loss_scale.init_scale", scale.init_scale},
          {"precision.loss_scale.growth_factor", scale.growth_factor},
          {"precision.loss_scale.backoff_factor", scale.backoff_factor},
          {"precision.loss_scale.growth_interval", scale.growth_interval},
          {"precision.loss_scale.hysteresis", as_number(scale.hysteresis)},
          {"precision.least_loss_scale", precision.least_loss_scale},
          {"precision.fallback_steps", precision.fallback_steps.value_or(0)}};
}

Values of_post_steps(const AverageOptions& average, const MaskOptions& mask) {
  return {{"average.kind", as_number(average.kind)},
          {"average.decay", average.decay},
          {"average.warmup", as_number(average.warmup)},
          {"average.start", average.start},
          {"average.every", average.every},
          {"average.evaluate", as_number(average.evaluate)},
          {"average.update_bn", as_number(average.update_bn)},
          {"mask.sparsity", mask.sparsity.value_or(-1)},
          {"mask.parameters", fmt::format("{}", fmt::join(mask.parameters, "; "))},
          {"mask.file", std::string(mask.file.empty() ? "not set" : "set")}};
}

Values of_options(const TrainerOptions& options) {
  return {{"schedule", cohort::text_of(options.schedule)},
          {"groups", text_of(options.groups)},
          {"rank_factors", fmt::format("[{}]", fmt::join(options.rank_factors, ", "))},
          {"clip_grad_norm", options.clip_grad_norm.value_or(0)},
          {"clip_grad_value", options.clip_grad_value.value_or(0)},
          {"skip_non_finite", as_number(options.skip_non_finite)},
          {"batch_size", options.batch_size.value_or(0)},
          {"micro_batches", as_number(options.micro_batches.value_or(0))},
          {"epochs", options.epochs},
          {"steps", options.steps.value_or(-1)},
          {"evaluate_every", options.evaluate_every.value_or(0)},
          {"patience", as_number(options.patience.value_or(0))},
          {"seed", as_number(options.seed)},
          {"shuffle", as_number(options.shuffle)},
          {"deterministic", as_number(options.deterministic)},
          {"bucket_bytes", as_number(options.bucket_bytes)},
          {"hash_every", options.hash_every.value_or(0)},
          {"one_copy", as_number(options.one_copy)}};
}

// The names as a C++ program writes them.
Values with_prefix(Values values) {
  for (SharedValue& value : values) value.name = "TrainerOptions::" + value.name;
  return values;
}

std::uint64_t hash_of(const at::Tensor& tensor, std::uint64_t seed) {
  if (!tensor.defined()) return seed;
  const at::Tensor whole = tensor.detach().cpu().to_dense().contiguous();
  const std::string shape =
      fmt::format("{} {}", at::toString(whole.scalar_type()), fmt::join(whole.sizes(), ","));
  seed = content_hash(std::as_bytes(std::span(shape)), seed);
  return content_hash({static_cast<const std::byte*>(whole.const_data_ptr()), whole.nbytes()}, seed);
}

// The first, the middle and the last sample: enough to notice other files, another order or another seed.
std::uint64_t hash_of_samples(const Dataset& data) {
  std::uint64_t hash = 0;
  const std::int64_t size = data.size();
  for (const std::int64_t index : {std::int64_t{0}, size / 2, size - 1}) {
    if (size == 0) break;
    for (const auto& [name, tensor] : data.at(index).tensors()) hash = hash_of(tensor, hash);
  }
  return hash;
}

Values of_data(const std::string& which, const Dataset* data) {
  if (data == nullptr)
    return {{"the number of samples to " + which + " with", std::int64_t{-1}}, {"", std::int64_t{0}}};
  return {{"the number of samples to " + which + " with", data->size()},
          {"the checksum of samples to " + which + " with", as_number(hash_of_samples(*data))}};
}

}  // namespace

void check_same_training(Communicator& group, const TrainerOptions& options, const Dataset& train,
                         const Dataset* test, const TorchOptimizer* torch_optimizer) {
  Values values{{"the checksum of the optimizer's settings and state",
                 torch_optimizer != nullptr ? as_number(torch_optimizer->hash()) : 0}};
  for (const Values& part :
       {with_prefix(of_optimizer(options.optimizer)), with_prefix(of_solver(options.solver)),
        with_prefix(of_options(options)), with_prefix(of_precision(options.precision)),
        with_prefix(of_post_steps(options.average, options.mask)), with_prefix(of_checkpoints(options)),
        of_data("train", &train), of_data("test", test)}) {
    values.insert(values.end(), part.begin(), part.end());
  }
  values.push_back({"whether TrainerOptions::directory is set", as_number(!options.directory.empty())});
  check_same_on_all(group, values,
                    "Give every rank the same settings and the same data: each rank takes its own part.");
}

}  // namespace cohort::train
