#include "job/model_data.h"

#include "model/loss.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace cohort::job {
namespace {

LossKind loss_named(const std::string& text) {
  for (const LossKind kind :
       {LossKind::kSquaredError, LossKind::kCrossEntropy, LossKind::kBinaryCrossEntropy}) {
    if (name(kind) == text) return kind;
  }
  throw UsageError(fmt::format("the model was trained with the loss '{}', which is unknown here", text));
}

}  // namespace

DataScore evaluate_on(const LoadedModel& model, const Dataset& data) {
  constexpr std::int64_t kBatch = 256;
  const LossKind kind = loss_named(model.facts.loss);
  const at::NoGradGuard no_grad;
  DataScore score{.samples = data.size()};
  EvaluationSum sum;
  for (std::int64_t first = 0; first < score.samples; first += kBatch) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(kBatch, score.samples - first)));
    std::iota(indices.begin(), indices.end(), first);
    sum.add(evaluate(*model.module, kind, data.batch(indices)));
  }
  if (score.samples > 0) score.loss = sum.mean_loss();
  score.accuracy = sum.accuracy();
  return score;
}

}  // namespace cohort::job
