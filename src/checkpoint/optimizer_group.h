#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace cohort::checkpoint {

using GroupSetting = std::variant<bool, double, std::vector<double>>;

/// Parameters that an optimizer updates with the same settings, as a group in the state dict of torch.optim.
/// Training goes on with settings of its own; these are for other programs.
struct OptimizerGroup {
  std::vector<std::string> parameters{};           ///< their names, in the order of the optimizer
  std::map<std::string, GroupSetting> settings{};  ///< lr, betas, …, as torch.optim calls them

  bool operator==(const OptimizerGroup&) const = default;
};

}  // namespace cohort::checkpoint
