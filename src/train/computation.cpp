#include "train/computation.h"

#include "base/check.h"

#include <utility>

namespace cohort::train {

Computation::Computation(Objective objective)
    : loss_([objective = std::move(objective)](const at::Tensor&, const Batch& batch) {
        return objective(batch);
      }) {}

Computation::Computation(Stages stages, OutputLoss loss)
    : stages_(std::move(stages)), loss_(std::move(loss)) {}

at::Tensor Computation::forward(int stage, const at::Tensor& input) const {
  COHORT_CHECK(stage >= 0 && stage < num_stages(), "stage {} of {}", stage, num_stages());
  return stages_ ? (*stages_)[static_cast<std::size_t>(stage)].forward(input) : at::Tensor();
}

Evaluation Computation::operator()(const Batch& batch) const {
  return loss_(stages_ ? stages_->forward(batch.input) : at::Tensor(), batch);
}

}  // namespace cohort::train
