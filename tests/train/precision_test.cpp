// Steps in bf16, with a scaled loss, and with stages that fall back to f32.

#include "layout/slice.h"
#include "train/small_models.h"
#include "train/training_world.h"

#include <ATen/autocast_mode.h>
#include <cohort/autocast.h>
#include <cohort/error.h>
#include <gtest/gtest.h>
#include <map>

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

// A net with every kind of parameter: matrices, biases, weights of normalisation.
torch::nn::Sequential normalised_net() {
  return with_fixed_numbers(torch::nn::Sequential(
      torch::nn::Linear(6, 17), torch::nn::LayerNorm(torch::nn::LayerNormOptions({17})), torch::nn::Tanh(),
      torch::nn::Linear(17, 9), torch::nn::BatchNorm1d(9), torch::nn::Linear(9, 3)));
}

TEST(Precision, Bf16ParametersAreTheRoundedMasters) {
  for (const int world : kWorlds) {
    for (const bool one_copy : {true, false}) {
      const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
        auto net = normalised_net();
        TrainerOptions options{.optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.01},
                               .batch_size = 12,
                               .epochs = 2,
                               .bucket_bytes = 256,
                               .one_copy = one_copy};
        options.precision = {.compute = ComputeType::kBF16, .parameters = DType::kBF16};
        Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
        const TrainingReport report =
            trainer.fit(std::make_shared<RoughNumbers>(36), std::make_shared<RoughNumbers>(11));
        EXPECT_TRUE(std::isfinite(report.last->loss));
        std::size_t num_masters = 0, num_not_equal = 0;
        std::map<std::string, at::Tensor> by_name;
        for (const auto& named : net->named_parameters()) by_name[named.key()] = named.value();
        trainer.visit_state([&](const Piece& piece) {
          const std::size_t slash = piece.name.find("/master");
          if (slash == std::string::npos) return;
          const at::Tensor parameter = by_name[piece.name.substr(0, slash)].detach();
          EXPECT_EQ(parameter.scalar_type(), at::kBFloat16);
          const at::Tensor flat = parameter.flatten();
          for (const auto& run : runs(piece.mine, whole(piece.shape))) {
            for (std::size_t i = 0; i < run.count; ++i) {
              const float master = reinterpret_cast<const float*>(piece.bytes.data())[run.from + i];
              const at::Tensor value = flat[static_cast<std::int64_t>(run.to + i)];
              EXPECT_EQ(at::full({}, master).to(at::kBFloat16).item<float>(), value.item<float>());
              num_not_equal += master != value.item<float>() ? 1 : 0;
              ++num_masters;
            }
          }
        });
        EXPECT_EQ(num_not_equal > num_masters / 2, true) << num_not_equal << " of " << num_masters;
        EXPECT_EQ(net->parameters()[1].scalar_type(), at::kFloat);  // a bias
      });
      EXPECT_WORLD_OK(outcome);
    }
  }
}

// Gradients are summed in f32, so the number of ranks does not matter, nor does that of hosts.
TEST(Precision, Bf16ParametersHaveTheSameBitsOnAnyNumberOfRanks) {
  std::vector<std::vector<std::uint16_t>> bits;
  for (const int world : {1, 2, 4}) {
    std::vector<std::uint16_t> seen;
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      auto net = small_net();
      TrainerOptions options = bf16_options();
      options.micro_batches = 8;
      options.precision.parameters = DType::kBF16;
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
      trainer.fit(std::make_shared<RoughNumbers>(37));
      if (group.rank() != 0) return;
      for (const at::Tensor& parameter : net->parameters()) {
        const at::Tensor narrow = parameter.detach().to(at::kBFloat16).contiguous();
        const auto* first = static_cast<const std::uint16_t*>(narrow.const_data_ptr());
        seen.insert(seen.end(), first, first + narrow.numel());
      }
    });
    EXPECT_WORLD_OK(outcome);
    bits.push_back(seen);
  }
  EXPECT_EQ(bits[0], bits[1]);
  EXPECT_EQ(bits[0], bits[2]);
}

// Updates of 2^-12 are too small for a parameter of 1 in bf16, and add up in its master.
TEST(Precision, AMasterKeepsSmallUpdates) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    torch::nn::Linear layer(torch::nn::LinearOptions(3, 2).bias(false));
    {
      const at::NoGradGuard no_grad;
      layer->weight.fill_(1);
    }
    TrainerOptions options{
        .optimizer = {.learning_rate = 0x1p-12, .momentum = 0}, .batch_size = 4, .epochs = 1, .steps = 32};
    options.precision = {.compute = ComputeType::kBF16, .parameters = DType::kBF16};
    Trainer trainer(
        group, arena, layer.ptr(),
        [&](const Batch& batch) {  // a gradient of 1 for each sample
          return Evaluation{.loss = layer->weight.sum() * static_cast<double>(batch.samples.size()),
                            .weight = static_cast<double>(batch.samples.size())};
        },
        options);
    trainer.fit(std::make_shared<WholeNumbers>(128));
    for (const float number : {layer->weight[0][0].item<float>(), layer->weight[1][2].item<float>()}) {
      EXPECT_EQ(number, 1 - 32 * 0x1p-12f);
    }
  });
  EXPECT_WORLD_OK(outcome);
}

std::string refusal_of(const Precision& precision) {
  std::string text;
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    try {
      Trainer trainer(group, arena, layer.ptr(), squared_error(layer), {.precision = precision});
    } catch (const UsageError& error) {
      text = error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
  return text;
}

TEST(Precision, SettingsThatDoNotFitAreRefused) {
  EXPECT_NE(refusal_of({.parameters = DType::kBF16}).find("but training computes in f32"), std::string::npos);
  EXPECT_NE(
      refusal_of({.compute = ComputeType::kBF16, .parameters = DType::kF16}).find("expected f32 or bf16"),
      std::string::npos);
  EXPECT_NE(refusal_of({.compute = ComputeType::kBF16, .parameters = DType::kBF16, .fallback_steps = 3})
                .find("no f32 parameters to compute with"),
            std::string::npos);
  EXPECT_NE(
      refusal_of({.loss_scale = {.growth_factor = 0.5}}).find("precision.loss_scale.growth_factor is 0.5"),
      std::string::npos);
  for (const double scale : {0.0, 1e-50, 1e39}) {  // a scale is a float
    EXPECT_NE(refusal_of({.loss_scale = {.init_scale = scale}}).find("loss_scale.init_scale is"),
              std::string::npos);
  }
}

/// Multiplies by infinity in one of its forwards, if that is in bf16.
struct OverflowsOnce : torch::nn::Module {
  OverflowsOnce(int forward, double given) : bad_forward(forward), factor(given) {}
  at::Tensor forward(const at::Tensor& input) {
    const bool is_bad = num_forwards++ == bad_forward && at::autocast::is_autocast_enabled(at::kCPU);
    types.push_back(input.scalar_type());
    return is_bad ? input * factor : input;
  }
  const int bad_forward;
  const double factor;
  int num_forwards = 0;
  std::vector<at::ScalarType> types{};
};

struct FallbackRun {
  std::vector<StepReport> steps{};
  std::vector<at::ScalarType> types{};
};

// The middle stage of three overflows on the last rank.
FallbackRun with_fallback(Communicator& group, Arena& arena, double factor, const Precision& precision) {
  FallbackRun run;
  const bool is_last = group.rank() == group.size() - 1;
  const auto bad = std::make_shared<OverflowsOnce>(is_last ? 1 : -1, factor);
  const Stages stages({torch::nn::Sequential(torch::nn::Linear(6, 8)), torch::nn::Sequential(bad),
                       torch::nn::Sequential(torch::nn::Linear(8, 3))});
  TrainerOptions options{.precision = precision, .batch_size = 6, .epochs = 1};
  options.on_step = [&](const StepReport& step) { run.steps.push_back(step); };
  const OutputLoss loss = [](const at::Tensor& output, const Batch& batch) {
    return Evaluation{
        .loss = at::cross_entropy_loss(output.to(at::kFloat), batch.target, {}, at::Reduction::Sum),
        .weight = static_cast<double>(batch.samples.size())};
  };
  Trainer trainer(group, arena, stages, loss, nullptr, options);
  trainer.fit(std::make_shared<RoughNumbers>(48));
  run.types = bad->types;
  return run;
}

TEST(Precision, AStageThatOverflowsComputesInF32ForAWhile) {
  for (const int world : kWorlds) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      const FallbackRun run = with_fallback(group, arena, std::numeric_limits<double>::infinity(),
                                            {.compute = ComputeType::kBF16, .fallback_steps = 3});
      ASSERT_EQ(run.steps.size(), 8u);
      for (std::size_t i = 0; i < run.steps.size(); ++i) {
        EXPECT_EQ(run.steps[i].skipped, i == 1) << i;
        const bool is_f32 = i >= 2 && i < 5;
        EXPECT_EQ(run.steps[i].f32_stages, is_f32 ? std::vector<int>{1} : std::vector<int>{}) << i;
        EXPECT_EQ(run.types[i], is_f32 ? at::kFloat : at::kBFloat16) << i;  // input of the stage
      }
    });
    EXPECT_WORLD_OK(outcome);
  }
}

// The values stay finite in forward; backward multiplies the scaled gradients once more.
TEST(Precision, AStageWhoseGradientsOverflowIsFound) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    const FallbackRun run = with_fallback(group, arena, 1e30,
                                          {.compute = ComputeType::kBF16,
                                           .loss_scaling = LossScaling::kStatic,
                                           .loss_scale = {.init_scale = 1e20},
                                           .fallback_steps = 2});
    ASSERT_EQ(run.steps.size(), 8u);
    EXPECT_TRUE(run.steps[1].skipped);
    EXPECT_EQ(run.steps[2].f32_stages, std::vector<int>{1});
    EXPECT_EQ(run.steps[4].f32_stages, std::vector<int>{});
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Precision, AnOverflowInF32AsWellEndsTraining) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    TrainerOptions options = exact_options();
    options.precision = {.compute = ComputeType::kBF16, .fallback_steps = 2};
    try {
      trained(group, arena, options, [](Evaluation loss, const Batch&, int rank) {
        if (rank == 1) loss.loss = loss.loss * std::nan("");
        return loss;
      });
      FAIL() << "training went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDiverged);
      EXPECT_NE(error.text().find("the loss is nan on rank 1, step 1"), std::string::npos) << error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
