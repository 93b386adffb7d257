#include "train/computation.h"

#include "base/check.h"
#include <cohort/autocast.h>

#include <utility>

namespace cohort::train {
namespace {

/// Autocast where a part of the model computes in bf16. With f32, the default, an autocast of the caller
/// stays as it is.
class CastWhere {
 public:
  explicit CastWhere(ComputeType compute) {
    if (resolved(compute) == ComputeType::kBF16) cast_.emplace();
  }

 private:
  std::optional<Autocast> cast_;
};

}  // namespace

Computation::Computation(Objective objective)
    : loss_([objective = std::move(objective)](const at::Tensor&, const Batch& batch) {
        return objective(batch);
      }) {}

Computation::Computation(Output output, OutputLoss loss)
    : output_(std::move(output)),
      output_loss_(std::move(loss)),
      loss_([output = output_, loss = output_loss_](const at::Tensor&, const Batch& batch) {
        return loss(output(batch), batch);
      }) {}

Computation::Computation(Stages stages, OutputLoss loss)
    : stages_(std::move(stages)), loss_(std::move(loss)) {}

at::Tensor Computation::output(const Batch& batch) const {
  return stages_ ? stages_->forward(batch.input) : output_(batch);
}

Evaluation Computation::loss_of(const at::Tensor& output, const Batch& batch) const {
  return stages_ ? loss_(output, batch) : output_loss_(output, batch);
}

at::Tensor Computation::forward(int stage, const at::Tensor& input, ComputeType compute) const {
  COHORT_CHECK(stage >= 0 && stage < num_stages(), "stage {} of {}", stage, num_stages());
  if (!stages_) return {};
  const CastWhere cast(compute);
  return (*stages_)[static_cast<std::size_t>(stage)].forward(input);
}

Evaluation Computation::loss(const at::Tensor& output, const Batch& batch, ComputeType compute) const {
  const CastWhere cast(compute);
  return loss_(output, batch);
}

Evaluation Computation::operator()(const Batch& batch, ComputeType compute) const {
  const CastWhere cast(compute);
  return loss_(stages_ ? stages_->forward(batch.input) : at::Tensor(), batch);
}

}  // namespace cohort::train
