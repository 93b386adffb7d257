#include "model/cases.h"

#include <cmath>
#include <cohort/dropout.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

/// The loss with every parameter moved by `distance` along its own direction.
double loss_along(Model& model, const ModelCase& each, const Batch& batch,
                  const std::vector<at::Tensor>& directions, double distance) {
  const at::NoGradGuard no_grad;
  auto parameters = model.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].add_(directions[i], distance);
  const double loss = evaluate(model, loss_of(each.config, each.facts), batch).loss.item<double>();
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].sub_(directions[i], distance);
  return loss;
}

std::vector<at::Tensor> zeros_like_all(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> zeros;
  for (const auto& parameter : parameters) zeros.push_back(at::zeros_like(parameter.detach()));
  return zeros;
}

/// Compares the gradient of each parameter with a difference along a random direction of that parameter. The
/// distance is short, so that no relu and no maximum turns within it; the rounding of the loss in f64 adds about
/// 1e-16 / distance.
void check_gradients(const ModelCase& each) {
  SCOPED_TRACE(each.name);
  const auto model = value_or_throw(make_model(each.config, each.facts, 7));
  model->to(at::kDouble);
  Batch batch = batch_for(each.facts, 3);
  if (batch.input.is_floating_point()) batch.input = batch.input.to(at::kDouble);
  set_step(*model, {.seed = 1, .step = 2, .samples = batch.samples});
  evaluate(*model, loss_of(each.config, each.facts), batch).loss.backward();
  const auto parameters = model->named_parameters();
  const double distance = 1e-7;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor gradient = parameters[i].value().grad();
    ASSERT_TRUE(gradient.defined()) << parameters[i].key();
    auto directions = zeros_like_all(model->parameters());
    fill_normal(directions[i], RandomStream(11, i), 0, 1 / std::sqrt(static_cast<double>(gradient.numel())));
    const double slope = (gradient * directions[i]).sum().item<double>();
    const double difference = (loss_along(*model, each, batch, directions, distance) -
                               loss_along(*model, each, batch, directions, -distance)) /
                              (2 * distance);
    EXPECT_NEAR(slope, difference, 1e-6 * (1 + std::abs(slope))) << parameters[i].key();
  }
}

TEST(Gradient, IsTheSlopeOfTheLossForEveryParameterOfEveryKind) {
  for (const ModelCase& each : model_cases()) {
    if (each.config.kind != "resnet18") check_gradients(each);
  }
}

TEST(Gradient, IsTheSlopeOfTheLossWithDropout) {
  for (ModelCase each : model_cases()) {
    each.config.dropout = 0.3;
    if (each.config.kind != "resnet18") check_gradients(each);
  }
}

TEST(Gradient, IsTheSlopeOfTheLossForSomeParametersOfResNet) {
  // One direction over all parameters at once: 62 parameters of 11 million numbers would take long.
  ModelConfig config = model_config("resnet18");
  const ModelCase each{"resnet18", config, {.input_shape = {3, 8, 8}, .classes = 3}};
  const auto model = value_or_throw(make_model(each.config, each.facts, 7));
  model->to(at::kDouble);
  Batch batch = batch_for(each.facts, 3);
  batch.input = batch.input.to(at::kDouble);
  evaluate(*model, LossKind::kCrossEntropy, batch).loss.backward();
  const auto parameters = model->named_parameters();
  for (const char* name : {"stem.weight", "stem_norm.bias", "stages.1.0.shortcut.weight",
                           "stages.2.1.norm2.weight", "head.weight"}) {
    auto directions = zeros_like_all(model->parameters());
    std::size_t place = 0;
    while (parameters[place].key() != name) ++place;
    fill_normal(directions[place], RandomStream(11, place), 0, 1e-2);
    const double slope = (parameters[place].value().grad() * directions[place]).sum().item<double>();
    const double distance = 1e-5;
    const double difference = (loss_along(*model, each, batch, directions, distance) -
                               loss_along(*model, each, batch, directions, -distance)) /
                              (2 * distance);
    EXPECT_NEAR(slope, difference, 1e-5 * (1 + std::abs(slope))) << name;
  }
}

}  // namespace
}  // namespace cohort
