#include "base/check.h"
#include <cohort/solver_settings.h>

#include <algorithm>
#include <array>

namespace cohort {
namespace {

constexpr std::array<std::string_view, 3> kSolverNames = {"lbfgs", "owlqn", "gauss-newton"};

constexpr std::array<std::string_view, 6> kReasons = {
    "the gradient is within the tolerance", "the last iteration changed less than the tolerance",
    "no trial step had a lower loss",       "the loss or its gradient is NaN or infinite",
    "the loss falls without end",           "as many iterations were made as were allowed"};

}  // namespace

std::string_view name(SolverKind kind) {
  return kSolverNames[static_cast<std::size_t>(kind)];
}

std::vector<std::string> solver_names() {
  return {kSolverNames.begin(), kSolverNames.end()};
}

std::optional<SolverKind> solver_named(std::string_view name) {
  const auto* const found = std::find(kSolverNames.begin(), kSolverNames.end(), name);
  if (found == kSolverNames.end()) return std::nullopt;
  return static_cast<SolverKind>(found - kSolverNames.begin());
}

std::string_view reason(SolverEnd end) {
  return kReasons[static_cast<std::size_t>(end)];
}

}  // namespace cohort
