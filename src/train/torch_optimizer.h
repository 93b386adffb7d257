#pragma once

#include "train/bucket_set.h"
#include "train/module_tensors.h"
#include "train/sharded_update.h"
#include <cohort/state.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace cohort::train {

/// An optimizer of torch as every rank runs it: each rank has all mean gradients and updates all parameters.
///
/// Threads: one at a time.
/// Lifetime: the optimizer must outlive it. The destructor sets learning rates and momentum back to their first
/// values.
/// Failure: the constructor throws UsageError for an optimizer that cannot be used: one that evaluates the
/// loss several times in a step, or one over parameters that the module does not have.
/// Cost: a pass over all gradients, besides the step of the optimizer.
class TorchOptimizer {
 public:
  TorchOptimizer(torch::optim::Optimizer& optimizer, const ModuleTensors& tensors);
  ~TorchOptimizer();
  TorchOptimizer(const TorchOptimizer&) = delete;
  TorchOptimizer& operator=(const TorchOptimizer&) = delete;

  /// Sets the learning rate of every parameter group to `scheduled` of the rate that the group had when this
  /// was made. Returns the rate of the first group.
  double set_learning_rates(const std::function<double(double)>& scheduled);
  /// Sets the momentum, or β₁, of every parameter group.
  void set_momentum(double momentum);
  /// Failure: throws UsageError for an optimizer without momentum and β₁.
  void check_momentum() const;
  /// Updates the parameters from the sums of gradients in the buckets. Parameters without a gradient on any
  /// rank have no `grad` meanwhile.
  void step(const BucketSet& buckets, const std::vector<bool>& used, const StepTerms& terms);
  /// Visits the state of the optimizer, as visit_optimizer().
  void visit(const ModuleTensors& tensors, const StateVisitor& visitor);
  const torch::optim::Optimizer& optimizer() const { return optimizer_; }
  /// A hash of settings and state, to compare ranks.
  std::uint64_t hash() const;

 private:
  torch::optim::Optimizer& optimizer_;
  std::vector<double> first_rates_;                     // per parameter group
  std::vector<std::optional<double>> first_momentums_;  // likewise
};

}  // namespace cohort::train
