#pragma once

#include <cohort/optimizer.h>

namespace cohort {

/// Whether the optimizer has a momentum above 0, or a β₁ in its place, that may be another one in each step.
/// That of nadam may not: its update is made of the momenta of all steps before.
bool has_momentum(const OptimizerSettings& settings);

/// Sets the momentum, or β₁, of an optimizer that has one.
void set_momentum(OptimizerSettings& settings, double momentum);

}  // namespace cohort
