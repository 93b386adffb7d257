#pragma once

#include <cohort/precision.h>
#include <cohort/stages.h>
#include <cohort/trainer.h>

#include <optional>

namespace cohort::train {

/// How the loss of a batch is computed: by an objective, or by stages or a function and the loss of their
/// output. An objective is the loss of one stage without an output. Each part may be computed in another
/// type.
///
/// Threads: as the modules.
/// Failure: throws what modules and functions of the user throw.
class Computation {
 public:
  Computation(Objective objective);
  Computation(Output output, OutputLoss loss);
  Computation(Stages stages, OutputLoss loss);

  int num_stages() const { return stages_ ? static_cast<int>(stages_->size()) : 1; }
  /// The output of a stage; undefined for an objective.
  at::Tensor forward(int stage, const at::Tensor& input, ComputeType compute) const;
  /// The loss, from the output of the last stage.
  Evaluation loss(const at::Tensor& output, const Batch& batch, ComputeType compute) const;
  /// False for an objective, which tells the loss alone.
  bool has_outputs() const { return stages_ || output_; }
  /// The output of the model, and the loss of it.
  at::Tensor output(const Batch& batch) const;
  Evaluation loss_of(const at::Tensor& output, const Batch& batch) const;
  /// All stages and the loss.
  Evaluation operator()(const Batch& batch, ComputeType compute) const;

 private:
  std::optional<Stages> stages_;
  Output output_;  // without stages: the model of output_loss_; may be null
  OutputLoss output_loss_;
  OutputLoss loss_;  // as the engine calls it: of the output of the last stage, undefined without stages
};

}  // namespace cohort::train
