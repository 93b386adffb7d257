#pragma once

#include "update/optimizer.h"
#include <cohort/slice.h>

#include <span>
#include <string_view>
#include <vector>

namespace cohort {

/// A tensor of the state that an optimizer keeps for a parameter as a whole, in row-major order.
struct WholeState {
  std::string_view name;  ///< as torch.optim calls it
  Shape shape;
};

/// The state of an optimizer for a tensor of this shape; its numbers are 0 at first.
std::vector<WholeState> whole_state(const OptimizerSettings& settings, const Shape& shape);

/// The work of whole_pass() on a tensor of this shape, in multiplications, about.
double whole_cost(const OptimizerSettings& settings, const Shape& shape);

/// A tensor between two passes: two_passes.h.
struct WholeTensor {
  const Shape& shape;
  std::span<float> directions{};              ///< in row-major order
  std::span<const std::span<float>> state{};  ///< in the order of whole_state()
  double parameter_squares = 0;               ///< sum of the squares of the parameters
};

/// Turns the directions of the first pass into those that the second one follows, for optimizers that compute
/// with whole tensors, and advances the state. The bits are the same on every machine.
///
/// Cost: whole_cost(); for muon, memory for five more tensors.
void whole_pass(const OptimizerSettings& settings, const UpdateStep& step, const WholeTensor& tensor);

}  // namespace cohort
