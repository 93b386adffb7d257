#include "model/cases.h"

#include <cmath>
#include <cohort/dropout.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

/// A model in f64 with the gradients of a batch.
class Differentiated {
 public:
  explicit Differentiated(const ModelCase& each)
      : model_(value_or_throw(make_model(each.config, each.facts, 7))),
        kind_(loss_of(each.config, each.facts)),
        batch_(batch_for(each.facts, 3)) {
    model_->to(at::kDouble);
    if (batch_.input.is_floating_point()) batch_.input = batch_.input.to(at::kDouble);
    set_step(*model_, {.seed = 1, .step = 2, .samples = batch_.samples});
    evaluate(*model_, kind_, batch_).loss.backward();
  }

  auto parameters() const { return model_->named_parameters(); }

  /// Compares the gradient of a parameter with a difference along a random direction. The distance is short,
  /// so that no relu and no maximum turns within it; the rounding of the loss in f64 adds about 1e-15 /
  /// distance.
  void check(const std::string& name, double tolerance) {
    at::Tensor parameter = parameters()[name];
    const at::Tensor gradient = parameter.grad();
    ASSERT_TRUE(gradient.defined()) << name;
    at::Tensor direction = at::empty_like(gradient);
    fill_normal(direction, RandomStream(11, 0), 0, 1 / std::sqrt(static_cast<double>(gradient.numel())));
    const double slope = (gradient * direction).sum().item<double>();
    const double distance = 1e-7;
    const double difference =
        (loss_at(parameter, direction, distance) - loss_at(parameter, direction, -distance)) / (2 * distance);
    EXPECT_NEAR(slope, difference, tolerance * (1 + std::abs(slope))) << name;
  }

 private:
  double loss_at(at::Tensor& parameter, const at::Tensor& direction, double distance) {
    const at::NoGradGuard no_grad;
    const at::Tensor before = parameter.clone();
    parameter.add_(direction, distance);
    const double loss = evaluate(*model_, kind_, batch_).loss.item<double>();
    parameter.copy_(before);
    return loss;
  }

  std::shared_ptr<Model> model_;
  LossKind kind_;
  Batch batch_;
};

void check_every_parameter(const ModelCase& each) {
  SCOPED_TRACE(each.name);
  Differentiated model(each);
  for (const auto& item : model.parameters()) model.check(item.key(), 1e-6);
}

TEST(Gradient, IsTheSlopeOfTheLossForEveryParameterOfEveryKind) {
  for (const ModelCase& each : model_cases()) {
    if (each.config.kind != "resnet18") check_every_parameter(each);
  }
}

TEST(Gradient, IsTheSlopeOfTheLossWithDropout) {
  for (ModelCase each : model_cases()) {
    each.config.dropout = 0.3;
    if (each.config.kind != "resnet18") check_every_parameter(each);
  }
}

TEST(Gradient, IsTheSlopeOfTheLossForSomeParametersOfResNet) {
  // All 62, of 11 million numbers, would take long.
  Differentiated model({"resnet18", model_config("resnet18"), {.input_shape = {3, 12, 12}, .classes = 3}});
  for (const char* name : {"stem.weight", "stages.1.0.shortcut.weight", "stages.2.1.norm2.weight"}) {
    model.check(name, 1e-5);
  }
}

}  // namespace
}  // namespace cohort
