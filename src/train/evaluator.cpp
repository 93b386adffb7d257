#include "train/evaluator.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <numeric>
#include <torch/nn/module.h>

namespace cohort::train {
namespace {

struct EvaluationMode {
  explicit EvaluationMode(torch::nn::Module& module) : module_(module), was_training_(module.is_training()) {
    module_.eval();
  }
  ~EvaluationMode() { module_.train(was_training_); }
  torch::nn::Module& module_;
  const bool was_training_;
};

Batch batch_of(const Dataset& data, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(last - first));
  std::iota(samples.begin(), samples.end(), first);
  return data.batch(samples);
}

}  // namespace

std::optional<EvaluationReport> evaluate(Communicator& group, torch::nn::Module& module,
                                         const Objective& objective, const Dataset& data,
                                         const EvaluationOptions& options) {
  const at::NoGradGuard no_grad;
  const EvaluationMode mode(module);
  const std::int64_t size = data.size();
  const std::int64_t num_batches = (size + options.batch - 1) / options.batch;
  constexpr std::size_t kNumbers = 3;  // loss, right answers, answers
  std::vector<double> sums(static_cast<std::size_t>(num_batches) * kNumbers + 1, 0.0);
  double& num_stopped = sums.back();
  for (std::int64_t b = group.rank(); b < num_batches; b += group.world()) {
    if (options.wants_to_stop && options.wants_to_stop()) {
      num_stopped = 1;
      break;
    }
    const Evaluation part =
        objective(batch_of(data, b * options.batch, std::min(size, (b + 1) * options.batch)));
    double* place = sums.data() + static_cast<std::size_t>(b) * kNumbers;
    place[0] = part.loss.item<double>();
    place[1] = part.correct;
    place[2] = part.counted;
  }
  value_or_throw(group.run(all_reduce(std::span(sums))));  // all but one of the ranks say 0
  if (num_stopped > 0) return std::nullopt;
  double loss = 0, correct = 0, counted = 0;
  for (std::size_t i = 0; i + 1 < sums.size(); i += kNumbers) {
    loss += sums[i];
    correct += sums[i + 1];
    counted += sums[i + 2];
  }
  EvaluationReport report{.loss = size > 0 ? loss / static_cast<double>(size) : 0};
  if (counted > 0) report.accuracy = correct / counted;
  return report;
}

}  // namespace cohort::train
