#include "small_models.h"
#include "training_world.h"

#include <cohort/trainer.h>

#include <gtest/gtest.h>
#include <torch/optim/adamw.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/sgd.h>

namespace cohort::test {
namespace {

using torch::optim::SGD;
using torch::optim::SGDOptions;

TrainerOptions torch_options() {
  return {.batch_size = 16, .epochs = 2};
}

std::vector<float> trained_by_torch(int world, const TrainerOptions& options, double rate = 0.0625) {
  std::vector<float> trained;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    SGD optimizer(layer->parameters(), SGDOptions(rate).momentum(0.5));
    Trainer trainer(group, arena, layer.ptr(), squared_error(layer), &optimizer, options);
    trainer.fit(std::make_shared<WholeNumbers>(32));
    if (group.rank() == world - 1) trained = numbers_of(*layer);
  });
  EXPECT_WORLD_OK(outcome);
  return trained;
}

std::vector<float> trained_by_cohort(TrainerOptions options) {
  options.optimizer = exact_options().optimizer;
  std::vector<float> trained;
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    Trainer trainer(group, arena, layer.ptr(), squared_error(layer), options);
    trainer.fit(std::make_shared<WholeNumbers>(32));
    if (group.rank() == 0) trained = numbers_of(*layer);
  });
  EXPECT_WORLD_OK(outcome);
  return trained;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
}

TEST(TorchOptimizer, TrainsAsTheSameOptimizerOfCohort) {
  const std::vector<float> expected = trained_by_cohort(torch_options());
  for (const int world : {1, 2, 3}) expect_near(trained_by_torch(world, torch_options()), expected);
}

TEST(TorchOptimizer, ObeysScheduleClippingAndMicroBatches) {
  TrainerOptions options = torch_options();
  options.schedule = {.curve = learning_rate::Step{.step_size = 1, .gamma = 0.5}, .warmup = {.steps = 2}};
  options.clip_grad_norm = 0.5;
  options.clip_grad_value = 0.25;
  options.micro_batches = 5;
  expect_near(trained_by_torch(2, options), trained_by_cohort(options));
}

TEST(TorchOptimizer, GivesTheSameBitsInAnyWorld) {
  TrainerOptions options = torch_options();
  options.micro_batches = 4;
  options.deterministic = Deterministic::kAnyWorld;
  const std::vector<float> one = trained_by_torch(1, options, 0.061);
  EXPECT_EQ(trained_by_torch(2, options, 0.061), one);
  EXPECT_EQ(trained_by_torch(4, options, 0.061), one);
}

TEST(TorchOptimizer, LeavesUnusedParametersAndItsLearningRatesAsTheyWere) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = std::make_shared<ThreeLayers>();
    SGD optimizer(net->parameters(), SGDOptions(0.0625).weight_decay(0.5));
    {
      TrainerOptions options = torch_options();
      options.schedule.warmup.steps = 100;
      Trainer trainer(group, arena, net, squared_error(net->used), &optimizer, options);
      trainer.fit(std::make_shared<WholeNumbers>(32));
    }
    EXPECT_NE(numbers_of(*net->used), numbers_of(*exact_linear()));
    EXPECT_EQ(numbers_of(*net->nobodys), numbers_of(*exact_linear())) << "not even weight decay moves it";
    EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.0625);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(TorchOptimizer, SkipsStepsThatAreNotFinite) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    SGD optimizer(layer->parameters(), SGDOptions(0.0625));
    Objective inner = squared_error(layer);
    int calls = 0;
    const Objective sometimes = [&](const Batch& batch) {
      Evaluation result = inner(batch);
      if (group.rank() == 1 && ++calls == 1) result.loss = result.loss * std::nan("");
      return result;
    };
    TrainerOptions options = torch_options();
    options.skip_non_finite = true;
    int skipped = 0;
    options.on_step = [&](const StepReport& step) { skipped += step.skipped ? 1 : 0; };
    Trainer trainer(group, arena, layer.ptr(), sometimes, &optimizer, options);
    trainer.fit(std::make_shared<WholeNumbers>(32));
    EXPECT_EQ(skipped, 1);
    EXPECT_TRUE(at::isfinite(layer->weight).all().item<bool>());
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(TorchOptimizer, WhatCannotWorkIsRefused) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    auto other = exact_linear();
    const auto make = [&](torch::optim::Optimizer& optimizer, const TrainerOptions& options) {
      Trainer trainer(group, arena, layer.ptr(), squared_error(layer), &optimizer, options);
    };
    SGD good(layer->parameters(), SGDOptions(0.1));
    SGD foreign(other->parameters(), SGDOptions(0.1));
    torch::optim::LBFGS closure(layer->parameters());
    EXPECT_NO_THROW(make(good, {}));
    EXPECT_THROW(make(foreign, {}), UsageError);
    EXPECT_THROW(make(closure, {}), UsageError);
    EXPECT_THROW(make(good, {.optimizer = {.learning_rate = 0.5}}), UsageError);
    EXPECT_THROW(make(good, {.groups = {{.patterns = {"bias"}, .frozen = true}}}), UsageError);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(TorchOptimizer, RanksWithOtherSettingsAreNamed) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    SGD optimizer(layer->parameters(), SGDOptions(group.rank() == 1 ? 0.1 : 0.2));
    Trainer trainer(group, arena, layer.ptr(), squared_error(layer), &optimizer, torch_options());
    try {
      trainer.fit(std::make_shared<WholeNumbers>(32));
      ADD_FAILURE() << "trained";
    } catch (const UsageError& error) {
      EXPECT_NE(error.text().find("optimizer's settings and state"), std::string::npos) << error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
