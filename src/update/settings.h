#pragma once

#include "base/result.h"
#include <cohort/optimizer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cohort {

using SettingValue = std::variant<bool, double, std::vector<double>>;

/// A setting of an optimizer, under its name in torch.optim and in job files.
struct OptimizerSetting {
  std::string_view name{};
  SettingValue value{};

  bool operator==(const OptimizerSetting&) const = default;
};

/// The settings that the optimizer uses, defaults included, but for the learning rate.
std::vector<OptimizerSetting> used_settings(const OptimizerSettings& settings);

/// The optimizers that use a setting, by name; all of them for weight_decay and maximize.
std::vector<std::string> users_of(std::string_view setting);

/// Whether every setting is inside its range, and none is set that the optimizer has no use for.
///
/// Failure: kUsage; the message names `TrainerOptions::optimizer.eps`.
Status check_settings(const OptimizerSettings& settings);

}  // namespace cohort
