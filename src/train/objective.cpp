#include <cohort/trainer.h>

namespace cohort {

Objective mean_loss(std::function<at::Tensor(const Batch&)> loss) {
  return [loss = std::move(loss)](const Batch& batch) {
    const auto weight = static_cast<double>(batch.samples.size());
    return Evaluation{.loss = loss(batch) * weight, .weight = weight};
  };
}

}  // namespace cohort
