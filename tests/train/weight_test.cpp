// A loss that weighs by tokens is the same number in training, vote and evaluation, on any number of ranks.

#include "train/small_models.h"
#include "train/training_world.h"

#include <gtest/gtest.h>
#include <numeric>

namespace cohort::test {
namespace {

constexpr std::int64_t kTokens = 4;

/// Sequences of which the first i mod 5 tokens count; some samples have none.
struct Sequences final : Dataset {
  explicit Sequences(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  Sample at(std::int64_t i) const override {
    at::Tensor input = at::empty({kTokens, 3}), target = at::empty({kTokens, 1});
    for (std::int64_t t = 0; t < kTokens; ++t) {
      for (std::int64_t j = 0; j < 3; ++j) input[t][j] = static_cast<double>((i * 7 + t * 3 + j * 5) % 4 - 1);
      target[t][0] = static_cast<double>((i + t) % 5 - 2);
    }
    const at::Tensor mask = at::arange(kTokens).lt(i % (kTokens + 1)).to(at::kFloat);
    return {input, target, {{"mask", mask}}};
  }
  std::int64_t count_;
};

OutputLoss by_tokens() {
  return [](const at::Tensor& output, const Batch& batch) {
    const at::Tensor mask = batch["mask"];
    const at::Tensor losses = (output - batch.target).square().squeeze(-1);
    return Evaluation{.loss = (losses * mask).sum(), .weight = mask.sum().item<double>()};
  };
}

Batch whole_of(const Dataset& data) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(data.size()));
  std::iota(indices.begin(), indices.end(), 0);
  return data.batch(indices);
}

struct WeighedRun {
  double step_loss = 0;
  double evaluated = 0;
  std::vector<float> numbers;
};

// One step over all samples.
WeighedRun one_step(int world, std::int64_t samples, bool waits) {
  WeighedRun outcome;
  const auto ran = run_training(world, [&](Communicator& group, Arena& arena) {
    const Stages net({exact_linear()});
    TrainerOptions options{.optimizer = {.learning_rate = 0.0625, .momentum = 0},
                           .batch_size = samples,
                           .micro_batches = 4,
                           .epochs = 1};
    if (waits) options.clip_grad_norm = 1e6;
    Trainer trainer(group, arena, net, by_tokens(), nullptr, options);
    const double evaluated = trainer.evaluate(Sequences(samples)).loss;
    const TrainingReport report = trainer.fit(std::make_shared<Sequences>(samples));
    if (group.rank() == 0) outcome = {report.loss, evaluated, numbers_of(*net.module())};
  });
  EXPECT_WORLD_OK(ran);
  return outcome;
}

TEST(TokenWeights, MeanTheSameInTrainingVoteAndEvaluationOnAnyWorld) {
  const std::int64_t samples = 21;  // micro-batches of 6, 5, 5, 5 samples and of 10, 11, … tokens
  auto layer = exact_linear();
  const Batch whole = whole_of(Sequences(samples));
  const Evaluation expected = by_tokens()(layer->forward(whole.input), whole);
  EXPECT_EQ(expected.weight, 40);  // of 84 tokens: 4 times 0 + 1 + 2 + 3 + 4, and 0
  const at::Tensor mean = expected.loss / expected.weight;
  mean.backward();
  const WeighedRun alone = one_step(1, samples, false);
  EXPECT_DOUBLE_EQ(alone.step_loss, expected.loss.item<double>() / expected.weight);
  EXPECT_EQ(alone.evaluated, alone.step_loss);
  std::vector<float> formula;
  for (const at::Tensor& parameter : layer->parameters()) {
    const at::Tensor moved = (parameter - 0.0625 * parameter.grad()).detach().contiguous();
    formula.insert(formula.end(), moved.const_data_ptr<float>(),
                   moved.const_data_ptr<float>() + moved.numel());
  }
  ASSERT_EQ(alone.numbers.size(), formula.size());
  for (std::size_t i = 0; i < formula.size(); ++i) EXPECT_FLOAT_EQ(alone.numbers[i], formula[i]) << i;
  for (const int world : {1, 2, 3}) {
    for (const bool waits : {false, true}) {
      const WeighedRun several = one_step(world, samples, waits);
      EXPECT_EQ(several.numbers, alone.numbers) << world << waits;
      EXPECT_EQ(several.step_loss, alone.step_loss) << world << waits;
      EXPECT_EQ(several.evaluated, alone.evaluated) << world << waits;
    }
  }
}

TEST(TokenWeights, AMicroBatchWithoutTokensCountsNothing) {
  // Samples 0 and 5 have no tokens that count: with one sample each, two of six micro-batches weigh nothing.
  const auto ran = run_training(2, [](Communicator& group, Arena& arena) {
    const Stages net({exact_linear()});
    Trainer trainer(group, arena, net, by_tokens(), nullptr,
                    {.optimizer = {.learning_rate = 0.0625, .momentum = 0},
                     .batch_size = 6,
                     .micro_batches = 6,
                     .epochs = 1,
                     .shuffle = false});
    const double evaluated = trainer.evaluate(Sequences(6)).loss;
    EXPECT_EQ(trainer.fit(std::make_shared<Sequences>(6)).loss, evaluated);
  });
  EXPECT_WORLD_OK(ran);
}

}  // namespace
}  // namespace cohort::test
