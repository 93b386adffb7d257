
#include "config/keys.h"

#include <fmt/format.h>

namespace cohort::config {
namespace {

constexpr Renamed kRenamed[] = {
    {"update", "its keys are in [optimizer] and [schedule]"},
    {"update.rule", "it is called optimizer.name"},
    {"update.learning_rate", "it is called optimizer.learning_rate"},
    {"update.momentum", "it is called optimizer.momentum"},
    {"update.beta1", "it is the first number of optimizer.betas"},
    {"update.beta2", "it is the second number of optimizer.betas"},
    {"update.epsilon", "it is called optimizer.eps"},
    {"update.weight_decay", "it is called optimizer.weight_decay"},
    {"update.groups", "it is called optimizer.groups"},
    {"update.clip_norm", "it is called optimizer.clip_grad_norm"},
    {"update.clip_value", "it is called optimizer.clip_grad_value"},
    {"update.skip_non_finite", "it is called optimizer.skip_non_finite"},
    {"update.schedule", "it is called schedule.name"},
    {"update.warmup_steps", "it is called schedule.warmup_steps"},
    {"update.schedule_steps", "it is called schedule.step_size, and schedule.t_max for a cosine"},
    {"update.schedule_factor", "it is called schedule.gamma"},
    {"update.final_learning_rate", "it is called schedule.eta_min"},
    {"train.batch", "it is called train.batch_size"},
    {"train.slots", "it is called train.micro_batches"},
    {"data.normalise", "it is called data.normalize"},
    {"communication.engine", "it is called communication.backend"},
    {"communication.wire", "it is called precision.gradients"},
    // Words that PyTorch users type.
    {"launch.timeout", "it is called launch.wait_limit"},
    {"data.num_workers", "it is called data.loader_threads"},
    {"--engine", "it is called --backend"},
};

constexpr Renamed kRenamedValues[] = {
    {"optimizer.name=momentum", "write name = \"sgd\" and momentum = 0.9"},
    {"precision.gradients=same", "write gradients = \"f32\""},
    {"communication.algorithm=", "write algorithm = \"auto\" for the fastest"},
    {"optimizer.name=nesterov", "write name = \"sgd\", momentum = 0.9 and nesterov = true"},
};

}  // namespace

std::optional<Renamed> find_renamed(std::string_view name) {
  for (const Renamed& row : kRenamed) {
    if (row.old_name == name) return row;
  }
  const std::string_view section = section_of(name);
  return section.empty() ? std::nullopt : find_renamed(section);
}

std::optional<std::string_view> find_renamed_value(std::string_view key, std::string_view value) {
  const std::string written = fmt::format("{}={}", key, value);
  for (const Renamed& row : kRenamedValues) {
    if (row.old_name == written) return row.remedy;
  }
  return std::nullopt;
}

}  // namespace cohort::config
