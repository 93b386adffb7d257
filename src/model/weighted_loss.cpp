#include "model/weighted_loss.h"

#include <ATen/ATen.h>
#include <cohort/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::model {
namespace {

double number_of(const at::Tensor& is_true) {
  return static_cast<double>(is_true.sum().item<std::int64_t>());
}

/// One element for each answer: a sample, or a token of a sample.
struct Answers {
  at::Tensor losses{};
  at::Tensor is_right{};  ///< undefined if there are no classes
};

Answers answers_of(LossKind kind, const at::Tensor& output, const at::Tensor& target) {
  if (kind == LossKind::kSquaredError) {
    const at::Tensor wanted = target.to(output.scalar_type()).view_as(output);
    return {.losses = (output - wanted).square().view({output.size(0), -1}).mean(1)};
  }
  if (kind == LossKind::kBinaryCrossEntropy) {
    const at::Tensor logits = output.view({-1});
    const at::Tensor classes = target.reshape({-1}).to(output.scalar_type());
    return {.losses = at::binary_cross_entropy_with_logits(logits, classes, /*weight=*/{}, /*pos_weight=*/{},
                                                           at::Reduction::None),
            .is_right = logits.detach().gt(0).eq(classes.gt(0.5))};
  }
  const at::Tensor logits = output.view({-1, output.size(-1)});
  const at::Tensor classes = target.reshape({-1}).to(at::kLong);
  return {.losses = at::cross_entropy_loss(logits, classes, /*weight=*/{}, at::Reduction::None),
          .is_right = logits.detach().argmax(1).eq(classes)};
}

}  // namespace

Evaluation weighted_loss(LossKind kind, const at::Tensor& output, const at::Tensor& target,
                         const at::Tensor& weight) {
  const Answers answers = answers_of(kind, output, target);
  const at::Tensor weights = weight.reshape({-1}).to(answers.losses.scalar_type());
  if (weights.numel() != answers.losses.numel()) {
    throw UsageError(
        fmt::format("the weight of the batch has the shape [{}], expected one number for each of {} answers",
                    fmt::join(weight.sizes(), ", "), answers.losses.numel()));
  }
  // A loss that does not count may be infinite; its product with 0 is not a number.
  const at::Tensor counts = weights.ne(0);
  Evaluation evaluation{.loss = at::where(counts, answers.losses * weights, 0).sum(),
                        .weight = weights.sum(at::kDouble).item<double>()};
  if (answers.is_right.defined()) {
    evaluation.correct = number_of(answers.is_right.logical_and(counts));
    evaluation.counted = number_of(counts);
  }
  return evaluation;
}

}  // namespace cohort::model
