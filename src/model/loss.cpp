#include "model/loss.h"

#include "model/weighted_loss.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort {
namespace {

std::string shape_text(const at::Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.sizes().vec(), ", "));
}

void check_fit(LossKind kind, const at::Tensor& output, const at::Tensor& target) {
  const bool has_classes = kind == LossKind::kCrossEntropy;  // the last dimension of the output
  if (target.numel() == (has_classes ? output.numel() / output.size(-1) : output.numel())) return;
  raise(Error(ErrorCode::kUsage, fmt::format("a target of shape {} does not fit an output of shape {} for {}",
                                             shape_text(target), shape_text(output), name(kind)))
            .with_remedy("Check that the model's kind is one for this data."));
}

double count_true(const at::Tensor& answers) {
  return static_cast<double>(answers.sum().item<std::int64_t>());
}

Evaluation squared_error_of(const at::Tensor& output, const at::Tensor& target) {
  const double outputs = static_cast<double>(output.numel()) / static_cast<double>(output.size(0));
  at::Tensor loss = at::mse_loss(output, target.to(output.scalar_type()).view_as(output), at::Reduction::Sum);
  return {.loss = outputs == 1 ? loss : loss / outputs};
}

Evaluation cross_entropy_of(const at::Tensor& output, const at::Tensor& target) {
  const std::int64_t answers = output.numel() / output.size(-1);
  const at::Tensor logits = output.view({answers, output.size(-1)});
  const at::Tensor classes = target.reshape({answers}).to(at::kLong);
  const double per_sample = static_cast<double>(answers) / static_cast<double>(output.size(0));
  at::Tensor loss = at::cross_entropy_loss(logits, classes, /*weight=*/{}, at::Reduction::Sum);
  return {.loss = per_sample == 1 ? loss : loss / per_sample,
          .correct = count_true(logits.detach().argmax(1).eq(classes)),
          .counted = static_cast<double>(answers)};
}

Evaluation binary_cross_entropy_of(const at::Tensor& output, const at::Tensor& target) {
  const at::Tensor logits = output.view({output.numel()});
  const at::Tensor classes = target.reshape({target.numel()}).to(output.scalar_type());
  return {.loss = at::binary_cross_entropy_with_logits(logits, classes, /*weight=*/{}, /*pos_weight=*/{},
                                                       at::Reduction::Sum),
          .correct = count_true(logits.detach().gt(0).eq(classes.gt(0.5))),
          .counted = static_cast<double>(output.numel())};
}

}  // namespace

std::string_view name(LossKind kind) {
  switch (kind) {
    case LossKind::kSquaredError:
      return "squared_error";
    case LossKind::kCrossEntropy:
      return "cross_entropy";
    case LossKind::kBinaryCrossEntropy:
      break;
  }
  return "binary_cross_entropy";
}

LossKind loss_of(const ModelConfig& config, const DataFacts& facts) {
  if (config.kind == "logistic") return LossKind::kBinaryCrossEntropy;
  return facts.classes > 0 || facts.vocabulary > 0 ? LossKind::kCrossEntropy : LossKind::kSquaredError;
}

// Losses are computed in f32, also of an output in bf16.
Evaluation judge(LossKind kind, const at::Tensor& given, const Batch& batch) {
  const at::Tensor output = given.scalar_type() == at::kBFloat16 ? given.to(at::kFloat) : given;
  check_fit(kind, output, batch.target);
  for (const auto& [key, tensor] : batch.others) {
    if (key == "weight") return model::weighted_loss(kind, output, batch.target, tensor);
  }
  Evaluation evaluation = kind == LossKind::kSquaredError   ? squared_error_of(output, batch.target)
                          : kind == LossKind::kCrossEntropy ? cross_entropy_of(output, batch.target)
                                                            : binary_cross_entropy_of(output, batch.target);
  evaluation.weight = static_cast<double>(batch.samples.size());
  return evaluation;
}

Evaluation evaluate(Model& model, LossKind kind, const Batch& batch) {
  if (batch.samples.empty()) return {.loss = at::zeros({})};
  return judge(kind, model.forward(batch.input), batch);
}

}  // namespace cohort
