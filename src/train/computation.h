#pragma once

#include <cohort/precision.h>
#include <cohort/stages.h>
#include <cohort/trainer.h>

#include <optional>

namespace cohort::train {

/// How the loss of a batch is computed: by an objective, or by stages and the loss of their output. An
/// objective is the loss of one stage without an output. Each part may be computed in another type.
///
/// Threads: as the modules.
/// Failure: throws what modules and functions of the user throw.
class Computation {
 public:
  Computation(Objective objective);
  Computation(Stages stages, OutputLoss loss);

  int num_stages() const { return stages_ ? static_cast<int>(stages_->size()) : 1; }
  /// The output of a stage; undefined for an objective.
  at::Tensor forward(int stage, const at::Tensor& input, ComputeType compute) const;
  /// The loss, from the output of the last stage.
  Evaluation loss(const at::Tensor& output, const Batch& batch, ComputeType compute) const;
  /// All stages and the loss.
  Evaluation operator()(const Batch& batch, ComputeType compute) const;

 private:
  std::optional<Stages> stages_;
  OutputLoss loss_;
};

}  // namespace cohort::train
