#pragma once

#include <optional>

namespace torch::optim {
class OptimizerOptions;
}

namespace cohort::train {

/// The momentum of these options, or their β₁; nothing for an optimizer that is not known to have one.
std::optional<double> torch_momentum(const torch::optim::OptimizerOptions& options);

/// Sets it, if there is one.
void set_torch_momentum(torch::optim::OptimizerOptions& options, double momentum);

}  // namespace cohort::train
