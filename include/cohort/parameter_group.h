#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cohort {

/// Optimizer settings of their own for some parameters, as a parameter group of torch.optim: those whose
/// names match one of the patterns. `*` in a pattern matches any number of characters, `?` exactly one.
///
///     {.patterns = {"*.bias", "norm.*"}, .weight_decay = 0}
///     {.patterns = {"embedding.*"}, .frozen = true}
struct ParameterGroup {
  std::vector<std::string> patterns{};
  // If not set, the setting of the optimizer.
  std::optional<double> learning_rate{};
  /// A factor of the learning rate of the optimizer, in place of `learning_rate`.
  std::optional<double> learning_rate_factor{};
  std::optional<double> weight_decay{};
  bool frozen = false;  ///< no gradient is computed and no update is made
  /// How the gradients of the ranks are added: `dense`, in the order of ranks, or `tree`, in the order of a
  /// binary tree over ranks. If not set, `tree` with Deterministic::kAnyWorld, and otherwise `dense`.
  std::optional<std::string> reducer{};
  /// How the ranks keep these parameters equal: `lock_step`, which is the only way so far.
  std::optional<std::string> synchronizer{};

  bool operator==(const ParameterGroup&) const = default;
};

}  // namespace cohort
