#pragma once

#include <cohort/dataset.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <torch/nn/module.h>
#include <utility>
#include <vector>

namespace cohort::train {

/// A module and all its parts are in evaluation mode while this lives. Afterwards each part is in its own
/// mode again: users put parts into evaluation mode that are not to be trained.
class EvaluationMode {
 public:
  explicit EvaluationMode(torch::nn::Module& module) {
    for (const auto& part : module.modules()) parts_.emplace_back(part, part->is_training());
    module.eval();
  }
  ~EvaluationMode() {
    // train() sets all parts below a part as well, and parts come after the parts that hold them.
    for (const auto& [part, was_training] : parts_) part->train(was_training);
  }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, bool>> parts_;
};

/// The samples [first, last), in the draw that every evaluation sees.
inline Batch batch_of(const Dataset& data, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(last - first));
  std::iota(samples.begin(), samples.end(), first);
  return data.batch(samples);
}

}  // namespace cohort::train
