// Steps in bf16, with a scaled loss, and with stages that fall back to f32.

#include "train/small_models.h"
#include "train/training_world.h"

#include <cohort/autocast.h>
#include <cohort/error.h>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

constexpr int kWorlds[] = {1, 2, 3};

struct Seen {
  std::vector<float> numbers{};
  std::vector<StepReport> steps{};
  TrainingReport report{};
};

using Change = std::function<Evaluation(Evaluation, const Batch&, int rank)>;

Seen trained(Communicator& group, Arena& arena, const TrainerOptions& options, const Change& change = {}) {
  Seen seen;
  auto layer = exact_linear();
  TrainerOptions mine = options;
  mine.on_step = [&](const StepReport& step) { seen.steps.push_back(step); };
  const Objective inner = squared_error(layer);
  Trainer trainer(
      group, arena, layer.ptr(),
      [&](const Batch& batch) { return change ? change(inner(batch), batch, group.rank()) : inner(batch); },
      mine);
  seen.report = trainer.fit(std::make_shared<WholeNumbers>(48));
  seen.numbers = numbers_of(*layer);
  return seen;
}

TrainerOptions scaled_options(LossScaling scaling, double scale) {
  TrainerOptions options = exact_options();
  options.shuffle = false;
  options.precision.loss_scaling = scaling;
  options.precision.loss_scale.init_scale = scale;
  return options;
}

// A factor of two to a power changes no bit of a gradient.
TEST(Precision, AScaledLossTrainsToTheSameBits) {
  for (const int world : kWorlds) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      const std::vector<float> expected = trained(group, arena, exact_options()).numbers;
      TrainerOptions shuffled = exact_options();
      for (const LossScaling scaling : {LossScaling::kStatic, LossScaling::kDynamic}) {
        shuffled.precision.loss_scaling = scaling;
        for (const double scale : {1.0, 1024.0, 0.25}) {
          shuffled.precision.loss_scale.init_scale = scale;
          EXPECT_EQ(trained(group, arena, shuffled).numbers, expected) << scale;
        }
      }
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(Precision, ClippingSeesGradientsWithoutTheScale) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    TrainerOptions options = exact_options();
    options.clip_grad_norm = 0.5;
    options.clip_grad_value = 0.25;
    const Seen expected = trained(group, arena, options);
    options.precision.loss_scaling = LossScaling::kStatic;
    options.precision.loss_scale.init_scale = 4096;
    const Seen scaled = trained(group, arena, options);
    EXPECT_EQ(scaled.numbers, expected.numbers);
    ASSERT_EQ(scaled.steps.size(), 3u);
    EXPECT_EQ(scaled.steps[1].gradient_norm, expected.steps[1].gradient_norm);
    EXPECT_EQ(scaled.steps[1].loss_scale, 4096);
    EXPECT_FALSE(expected.steps[1].loss_scale);
  });
  EXPECT_WORLD_OK(outcome);
}

// The largest float is 3.4e38: a scale of 1e38 overflows, one of 1e38 / 1024 does not.
TEST(Precision, AnOverflowSkipsTheStepAndLowersTheScale) {
  for (const int world : kWorlds) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      TrainerOptions options = scaled_options(LossScaling::kDynamic, 0x1p126);
      options.precision.loss_scale.backoff_factor = 0x1p-20;
      options.precision.loss_scale.growth_factor = 2;
      options.precision.loss_scale.growth_interval = 1;
      const Seen seen = trained(group, arena, options);
      ASSERT_EQ(seen.steps.size(), 3u);
      EXPECT_TRUE(seen.steps[0].skipped);
      EXPECT_FALSE(seen.steps[1].skipped);
      EXPECT_EQ(seen.steps[0].loss_scale, 0x1p126);
      EXPECT_EQ(seen.steps[1].loss_scale, 0x1p106);
      EXPECT_EQ(seen.steps[2].loss_scale, 0x1p107);
      EXPECT_EQ(seen.report.skipped_steps, 1);
      TrainerOptions plain = exact_options();  // the same without the first step
      plain.shuffle = false;
      plain.skip_non_finite = true;
      const Seen expected = trained(group, arena, plain, [](Evaluation loss, const Batch& batch, int) {
        for (const std::int64_t sample : batch.samples) {
          if (sample < 16) loss.loss = loss.loss * std::nan("");
        }
        return loss;
      });
      EXPECT_EQ(seen.numbers, expected.numbers);
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(Precision, AnOverflowOfOneRankCountsForAll) {
  const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
    TrainerOptions options = scaled_options(LossScaling::kDynamic, 1024);
    const Seen seen = trained(group, arena, options, [](Evaluation loss, const Batch& batch, int rank) {
      const at::Tensor huge = at::full({}, 1e36);  // times 1024 and small numbers
      if (rank == 2 && batch.samples.front() > 16 && batch.samples.front() < 32) {
        loss.loss = loss.loss * huge / 1e36 + (loss.loss - loss.loss.detach()) * huge;
      }
      return loss;
    });
    ASSERT_EQ(seen.steps.size(), 3u);
    EXPECT_FALSE(seen.steps[0].skipped);
    EXPECT_TRUE(seen.steps[1].skipped);
    EXPECT_FALSE(seen.steps[2].skipped);
    EXPECT_EQ(seen.steps[2].loss_scale, 512);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Precision, AScaleBelowTheLeastEndsTraining) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    TrainerOptions options = scaled_options(LossScaling::kDynamic, 4);
    options.precision.least_loss_scale = 2;
    try {
      trained(group, arena, options, [](Evaluation loss, const Batch&, int rank) {
        if (rank == 1) loss.loss = loss.loss * std::nan("");
        return loss;
      });
      FAIL() << "training went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDiverged);
      EXPECT_NE(error.text().find("the loss scale would be 1, expected at least 2"), std::string::npos)
          << error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Precision, AutocastComputesInBf16AndGradientsAreF32) {
  torch::nn::Linear layer(8, 8);
  const at::Tensor input = at::ones({4, 8});
  at::Tensor output;
  {
    const Autocast mixed = autocast();
    output = layer->forward(input);
    EXPECT_EQ(output.scalar_type(), at::kBFloat16);
    const Autocast exact = autocast(ComputeType::kF32);
    EXPECT_EQ(layer->forward(input).scalar_type(), at::kFloat);
  }
  EXPECT_EQ(layer->forward(input).scalar_type(), at::kFloat);
  output.sum().backward();
  EXPECT_EQ(layer->weight.grad().scalar_type(), at::kFloat);
}

// torch keeps converted weights while a guard lives.
TEST(Precision, AutocastSeesWeightsThatChanged) {
  torch::nn::Linear layer(8, 1);
  const at::Tensor input = at::ones({1, 8});
  const Autocast outer = autocast();
  {
    const at::NoGradGuard no_grad;
    layer->weight.fill_(1);
    layer->bias.fill_(0);
  }
  const Autocast first = autocast();
  EXPECT_EQ(layer->forward(input).item<float>(), 8);
  {
    const at::NoGradGuard no_grad;
    layer->weight.fill_(2);
  }
  const Autocast second = autocast();
  EXPECT_EQ(layer->forward(input).item<float>(), 16);
}

TrainerOptions bf16_options() {
  TrainerOptions options{.optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.01},
                         .batch_size = 16,
                         .micro_batches = 4,
                         .epochs = 2,
                         .deterministic = Deterministic::kAnyWorld};
  options.precision.compute = ComputeType::kBF16;
  return options;
}

std::vector<float> bf16_run(Communicator& group, Arena& arena, const TrainerOptions& options) {
  auto net = small_net();
  Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
  trainer.fit(std::make_shared<RoughNumbers>(37), std::make_shared<RoughNumbers>(11));
  return numbers_of(*net);
}

TEST(Precision, Bf16HasTheSameBitsOnAnyNumberOfRanks) {
  std::vector<std::vector<float>> numbers;
  for (const int world : {1, 2, 4}) {
    std::vector<float> seen;
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      const std::vector<float> mine = bf16_run(group, arena, bf16_options());
      if (group.rank() == 0) seen = mine;
    });
    EXPECT_WORLD_OK(outcome);
    numbers.push_back(seen);
  }
  EXPECT_EQ(numbers[0], numbers[1]);
  EXPECT_EQ(numbers[0], numbers[2]);
}

TEST(Precision, Bf16ComputesOtherBitsThanF32) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    TrainerOptions options = bf16_options();
    const std::vector<float> narrow = bf16_run(group, arena, options);
    options.precision.compute = ComputeType::kF32;
    const std::vector<float> wide = bf16_run(group, arena, options);
    EXPECT_NE(narrow, wide);
    options.precision.compute = ComputeType::kAuto;
    EXPECT_EQ(bf16_run(group, arena, options), has_fast_bf16() ? narrow : wide);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Precision, AnEvaluationComputesInBf16) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    std::vector<at::ScalarType> types;
    TrainerOptions options = bf16_options();
    Trainer trainer(
        group, arena, net.ptr(),
        [&](const Batch& batch) {
          const at::Tensor output = net->forward(batch.input);
          types.push_back(output.scalar_type());
          return Evaluation{.loss = at::cross_entropy_loss(output, batch.target, {}, at::Reduction::Sum),
                            .weight = static_cast<double>(batch.samples.size())};
        },
        options);
    trainer.evaluate(RoughNumbers(600));
    EXPECT_EQ(types, std::vector<at::ScalarType>(types.size(), at::kBFloat16));
    EXPECT_FALSE(types.empty());
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
