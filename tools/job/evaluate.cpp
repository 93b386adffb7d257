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
  double loss = 0, correct = 0, counted = 0;
  for (std::int64_t first = 0; first < score.samples; first += kBatch) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(kBatch, score.samples - first)));
    std::iota(indices.begin(), indices.end(), first);
    const Evaluation part = evaluate(*model.module, kind, data.batch(indices));
    loss += part.loss.item<double>();
    correct += part.correct;
    counted += part.counted;
  }
  if (score.samples > 0) score.loss = loss / static_cast<double>(score.samples);
  if (counted > 0) score.accuracy = correct / counted;
  return score;
}

}  // namespace cohort::job
