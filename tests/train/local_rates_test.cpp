#include "small_models.h"
#include "training_world.h"

#include <cohort/trainer.h>

#include <gtest/gtest.h>
#include <limits>
#include <mutex>

namespace cohort::test {
namespace {

/// A step of plain SGD with the learning rate 1/16 by so many ranks.
struct Step {
  std::vector<float> parameters{};
  double loss = 0;
  std::vector<std::vector<std::int64_t>> samples{};  // of each rank
};

TrainerOptions one_step() {
  return {.optimizer = {.learning_rate = 0.0625, .momentum = 0},
          .batch_size = 16,
          .epochs = 1,
          .steps = 1,
          .evaluate_every = std::nullopt};
}

Step step_of(int world, const TrainerOptions& options, std::int64_t num_samples = 16) {
  Step done;
  done.samples.resize(static_cast<std::size_t>(world));
  std::mutex mutex;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    const auto layer = exact_linear();
    const Objective inner = squared_error(layer);
    const Objective objective = [&](const Batch& batch) {
      const std::lock_guard lock(mutex);
      auto& mine = done.samples[static_cast<std::size_t>(group.rank())];
      mine.insert(mine.end(), batch.samples.begin(), batch.samples.end());
      return inner(batch);
    };
    Trainer trainer(group, arena, layer.ptr(), objective, options);
    const TrainingReport report = trainer.fit(std::make_shared<WholeNumbers>(num_samples));
    if (group.rank() != 0) return;
    done.parameters = numbers_of(*layer);
    done.loss = report.loss;
  });
  EXPECT_WORLD_OK(outcome);
  return done;
}

/// The step by its definition: Σ fᵣ·(gradients of rank r) / Σ fᵣ·(samples of rank r), in double.
Step expected_step(const Step& done, const std::vector<double>& factors) {
  const WholeNumbers data(1000);
  auto layer = exact_linear();
  layer->to(at::kDouble);
  at::Tensor weighted = at::zeros({}, at::kDouble);
  double weight = 0;
  for (std::size_t rank = 0; rank < factors.size(); ++rank) {
    for (const std::int64_t i : done.samples[rank]) {
      const Sample sample = data.at(i);
      const at::Tensor output = layer->forward(sample.input.to(at::kDouble));
      weighted = weighted + factors[rank] * (output - sample.target.to(at::kDouble)).square().sum();
      weight += factors[rank];
    }
  }
  (weighted / weight).backward();
  Step expected{.loss = weighted.item<double>() / weight};
  for (const at::Tensor& parameter : layer->parameters()) {
    const at::Tensor updated = (parameter.detach() - 0.0625 * parameter.grad()).flatten();
    for (std::int64_t i = 0; i < updated.numel(); ++i)
      expected.parameters.push_back(updated[i].item<float>());
  }
  return expected;
}

// Sums of these numbers are exact; only their division by the weight is rounded.
TEST(RankFactors, WeighGradientsAndLossesOfEachRank) {
  const std::vector<double> lists[] = {{1, 0.5}, {0.25, 2}, {4, 4}, {1, 0}, {0.5, 1, 2}, {0, 0, 1}};
  for (const std::vector<double>& factors : lists) {
    const int world = static_cast<int>(factors.size());
    for (const std::int64_t num_samples : {16, 13}) {
      TrainerOptions options = one_step();
      options.rank_factors = factors;
      options.micro_batches = 2 * world;
      const Step found = step_of(world, options, num_samples), expected = expected_step(found, factors);
      ASSERT_EQ(found.parameters.size(), expected.parameters.size());
      for (std::size_t i = 0; i < found.parameters.size(); ++i) {
        EXPECT_NEAR(found.parameters[i], expected.parameters[i], 1e-6) << i;
      }
      EXPECT_DOUBLE_EQ(found.loss, expected.loss);
    }
  }
}

TEST(RankFactors, ThatAreEqualChangeNothing) {
  TrainerOptions options = one_step();
  const Step plain = step_of(2, options);
  for (const double factor : {1.0, 0.5, 8.0}) {
    options.rank_factors = {factor, factor};
    const Step found = step_of(2, options);
    EXPECT_EQ(found.parameters, plain.parameters) << factor;
    EXPECT_EQ(found.loss, plain.loss);
  }
  options.rank_factors = {1, 0.5};
  EXPECT_NE(step_of(2, options).parameters, plain.parameters);
}

std::string refused(const TrainerOptions& options) {
  std::mutex mutex;
  std::string text;
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    const auto layer = exact_linear();
    try {
      Trainer trainer(group, arena, layer.ptr(), squared_error(layer), options);
    } catch (const UsageError& error) {
      const std::lock_guard lock(mutex);
      text = error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
  return text;
}

TEST(RankFactors, ThatHaveNoMeanAreRefused) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  const std::pair<std::vector<double>, const char*> wrong[] = {
      {{1}, "has 1 number, expected 2, one for each rank"},
      {{1, 1, 1}, "has 3 numbers, expected 2"},
      {{1, -1}, "has the number -1"},
      {{nan, 1}, "has the number nan"},
      {{1, infinite}, "has the number inf"},
      {{0, 0}, "has no number above 0"}};
  for (const auto& [factors, text] : wrong) {
    TrainerOptions options = one_step();
    options.rank_factors = factors;
    EXPECT_NE(refused(options).find(text), std::string::npos) << refused(options);
  }
  TrainerOptions options = one_step();
  options.rank_factors = {1, 0.5};
  options.micro_batches = 2;
  options.deterministic = Deterministic::kAnyWorld;
  EXPECT_NE(refused(options).find("depends on the number of ranks"), std::string::npos);
}

TEST(GroupFactors, MultiplyTheLearningRateOfTheirParameters) {
  TrainerOptions options = one_step();
  const std::vector<float> start = numbers_of(*exact_linear());
  const Step plain = step_of(2, options);
  options.groups = {{.patterns = {"bias"}, .learning_rate_factor = 2}};
  const Step doubled = step_of(2, options);
  ASSERT_EQ(doubled.parameters.size(), 4u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(doubled.parameters[i], plain.parameters[i]);
  EXPECT_FLOAT_EQ(doubled.parameters[3] - start[3], 2 * (plain.parameters[3] - start[3]));
  EXPECT_NE(plain.parameters[3], start[3]);
  options.groups = {{.patterns = {"bias"}, .learning_rate = 0.125}};
  EXPECT_EQ(step_of(2, options).parameters, doubled.parameters) << "0.125 is twice the learning rate";
  options.groups = {{.patterns = {"bias"}, .learning_rate_factor = 0}};
  EXPECT_EQ(step_of(2, options).parameters[3], start[3]);
  options.groups = {{.patterns = {"bias"}, .learning_rate = 0.125, .learning_rate_factor = 2}};
  EXPECT_NE(refused(options).find("has a learning_rate and a learning_rate_factor"), std::string::npos);
}

}  // namespace
}  // namespace cohort::test
