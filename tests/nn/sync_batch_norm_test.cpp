// A SyncBatchNorm on several ranks against torch::nn::BatchNorm on the whole batch.

#include <cohort/batch_norm.h>

#include "nn/synchronised_layers.h"
#include "train/training_world.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/nn.h>

namespace cohort::test {
namespace {

using torch::nn::BatchNormOptions;

/// Batches, and how they are divided among ranks.
struct Case {
  std::vector<std::int64_t> sizes{};  // of the whole batch
  std::vector<std::int64_t> parts{};  // samples of each rank
  BatchNormOptions options{1};        // but for the channels
  at::ScalarType type = at::kDouble;
  at::MemoryFormat format = at::MemoryFormat::Contiguous;
  double tolerance = 1e-12;
};

at::Tensor rough(at::IntArrayRef sizes, std::uint64_t seed, const Case& given) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return (at::randn(sizes, generator, at::kDouble) * 3 + 2).to(given.type).contiguous(given.format);
}

at::Tensor part_of(const at::Tensor& whole, const Case& given, int rank) {
  std::int64_t first = 0;
  for (int before = 0; before < rank; ++before) first += given.parts[static_cast<std::size_t>(before)];
  return whole.narrow(0, first, given.parts[static_cast<std::size_t>(rank)]);
}

template <class Layer>
Layer layer_for(const Case& given) {
  Layer layer(BatchNormOptions(given.options).num_features(given.sizes[1]));
  layer->to(given.type == at::kDouble ? at::kDouble : at::kFloat);
  if (layer->weight.defined()) {
    const at::NoGradGuard no_grad;
    layer->weight.copy_(at::arange(given.sizes[1], at::kDouble) * 0.5 - 1.25);
    layer->bias.copy_(at::arange(given.sizes[1], at::kDouble) - 3);
  }
  return layer;
}

void expect_close(const at::Tensor& found, const at::Tensor& expected, const Case& given, const char* what) {
  ASSERT_EQ(found.sizes(), expected.sizes()) << what;
  ASSERT_EQ(found.scalar_type(), expected.scalar_type()) << what;
  if (expected.numel() == 0) return;
  const double scale = std::max(1.0, expected.abs().max().item<double>());
  const double difference = (found - expected).abs().max().item<double>();
  EXPECT_LE(difference, given.tolerance * scale) << what;
}

at::Tensor over_ranks(Communicator& group, const at::Tensor& own) {
  at::Tensor sum = own.to(at::kDouble).contiguous();
  value_or_throw(group.run(
      all_reduce(Numbers(sum.mutable_data_ptr(), static_cast<std::size_t>(sum.numel()), DType::kF64))));
  return sum.to(own.scalar_type());
}

template <class Layer>
void expect_same_state(Layer& found, const Case& given, const torch::nn::Module& expected) {
  ASSERT_EQ(found->named_buffers().keys(), expected.named_buffers().keys());
  for (const auto& buffer : expected.named_buffers()) {
    expect_close(found->named_buffers()[buffer.key()], buffer.value(), given, buffer.key().c_str());
  }
}

template <class Sync, class Local>
void expect_as_one_rank(const Case& given) {
  const int world = static_cast<int>(given.parts.size());
  const auto outcome = run_training(world, [&](Communicator& group, Arena&) {
    const int rank = group.rank();
    auto expected = layer_for<Local>(given);
    auto layer = layer_for<Sync>(given);
    const nn::SynchronisedLayers layers(group, *layer);
    for (std::uint64_t batch = 0; batch < 3; ++batch) {
      const at::Tensor whole = rough(given.sizes, 2 * batch, given).requires_grad_();
      const at::Tensor slope = rough(given.sizes, 2 * batch + 1, given);
      const at::Tensor own =
          part_of(whole.detach(), given, rank).clone().contiguous(given.format).requires_grad_();
      expected->zero_grad();
      layer->zero_grad();
      const at::Tensor y = expected->forward(whole), own_y = layer->forward(own);
      expect_close(own_y, part_of(y, given, rank), given, "output");
      (y * slope).sum().backward();
      (own_y * part_of(slope, given, rank)).sum().backward();
      expect_close(own.grad(), part_of(whole.grad(), given, rank), given, "gradient of the input");
      if (layer->weight.defined()) {
        expect_close(over_ranks(group, layer->weight.grad()), expected->weight.grad(), given,
                     "of the weight");
        expect_close(over_ranks(group, layer->bias.grad()), expected->bias.grad(), given, "of the bias");
      }
      expect_same_state(layer, given, *expected);
    }
    expected->eval();
    layer->eval();
    const at::Tensor alone = rough(given.sizes, 9, given);
    if (rank == 0) expect_close(layer->forward(alone), expected->forward(alone), given, "in evaluation");
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(SyncBatchNorm, SeveralRanksAreOneRankOnTheWhole) {
  for (const auto& parts :
       std::vector<std::vector<std::int64_t>>{{11}, {6, 5}, {10, 1}, {4, 0, 7}, {0, 0, 11, 0}}) {
    expect_as_one_rank<nn::SyncBatchNorm1d, torch::nn::BatchNorm1d>({.sizes = {11, 5}, .parts = parts});
    expect_as_one_rank<nn::SyncBatchNorm1d, torch::nn::BatchNorm1d>({.sizes = {11, 18, 3}, .parts = parts});
    expect_as_one_rank<nn::SyncBatchNorm2d, torch::nn::BatchNorm2d>(
        {.sizes = {11, 3, 2, 17}, .parts = parts});
    expect_as_one_rank<nn::SyncBatchNorm3d, torch::nn::BatchNorm3d>(
        {.sizes = {11, 2, 3, 2, 5}, .parts = parts});
  }
}

TEST(SyncBatchNorm, OptionsAreThoseOfTorch) {
  const std::vector<BatchNormOptions> all{
      BatchNormOptions(1).affine(false), BatchNormOptions(1).momentum(std::nullopt),
      BatchNormOptions(1).momentum(1.0), BatchNormOptions(1).track_running_stats(false),
      BatchNormOptions(1).eps(0.5).momentum(0.0)};
  for (const BatchNormOptions& options : all) {
    expect_as_one_rank<nn::SyncBatchNorm1d, torch::nn::BatchNorm1d>(
        {.sizes = {7, 4}, .parts = {3, 4}, .options = options});
    expect_as_one_rank<nn::SyncBatchNorm2d, torch::nn::BatchNorm2d>(
        {.sizes = {7, 4, 3, 3}, .parts = {6, 1}, .options = options});
  }
}

TEST(SyncBatchNorm, EveryMemoryFormatAndType) {
  expect_as_one_rank<nn::SyncBatchNorm2d, torch::nn::BatchNorm2d>(
      {.sizes = {5, 19, 3, 4}, .parts = {3, 2}, .format = at::MemoryFormat::ChannelsLast});
  expect_as_one_rank<nn::SyncBatchNorm3d, torch::nn::BatchNorm3d>(
      {.sizes = {5, 3, 3, 4, 2}, .parts = {2, 3}, .format = at::MemoryFormat::ChannelsLast3d});
  for (const at::MemoryFormat format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    // f32 has 24 bits, of which the sums in f32 of torch lose some.
    expect_as_one_rank<nn::SyncBatchNorm2d, torch::nn::BatchNorm2d>(
        {.sizes = {5, 19, 3, 4}, .parts = {3, 2}, .type = at::kFloat, .format = format, .tolerance = 2e-6});
    // The last of the 8 bits of bf16 may be rounded the other way.
    expect_as_one_rank<nn::SyncBatchNorm2d, torch::nn::BatchNorm2d>({.sizes = {5, 19, 3, 4},
                                                                     .parts = {3, 2},
                                                                     .type = at::kBFloat16,
                                                                     .format = format,
                                                                     .tolerance = 8e-3});
  }
}

TEST(SyncBatchNorm, AMeanFarFromZeroCostsNoDigits) {
  const auto outcome = run_training(2, [](Communicator& group, Arena&) {
    nn::SyncBatchNorm1d layer(BatchNormOptions(1).affine(false).eps(0));
    layer->to(at::kDouble);
    const nn::SynchronisedLayers layers(group, *layer);
    // 1e9 and 1e9 + 2 on rank 0, 1e9 + 4 and 1e9 + 6 on rank 1: the variance is 5.
    const at::Tensor own = at::tensor({0.0, 2.0}, at::kDouble).view({2, 1}) + (1e9 + 4 * group.rank());
    const at::Tensor y = layer->forward(own);
    const at::Tensor expected = (own - (1e9 + 3)) / std::sqrt(5.0);
    EXPECT_TRUE(at::allclose(y, expected, 0, 1e-6)) << y;  // x·a + b rounds numbers of 1e9
    EXPECT_NEAR(layer->running_var.item<double>(), 0.9 + 0.1 * 20 / 3, 1e-12);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(SyncBatchNorm, GradientsAreThoseOfDifferences) {
  const auto outcome = run_training(2, [](Communicator& group, Arena&) {
    const Case given{.sizes = {3, 2, 2, 1}};
    auto layer = layer_for<nn::SyncBatchNorm2d>(given);
    const nn::SynchronisedLayers layers(group, *layer);
    const at::Tensor x =
        rough(given.sizes, 10 + static_cast<std::uint64_t>(group.rank()), given).requires_grad_();
    const at::Tensor slope = rough(given.sizes, 20 + static_cast<std::uint64_t>(group.rank()), given);
    // The loss of all ranks.
    const auto loss = [&] {
      const at::NoGradGuard no_grad;
      return over_ranks(group, (layer->forward(x) * slope).sum().view(1)).item<double>();
    };
    (layer->forward(x) * slope).sum().backward();
    constexpr double kStep = 1e-5;
    for (int rank = 0; rank < 2; ++rank) {
      for (std::int64_t i = 0; i < x.numel(); ++i) {
        const auto moved = [&](double by) {
          if (group.rank() == rank) x.data().view(-1)[i] += by;
          const double value = loss();
          if (group.rank() == rank) x.data().view(-1)[i] -= by;
          return value;
        };
        const double expected = (moved(kStep) - moved(-kStep)) / (2 * kStep);
        if (group.rank() == rank) {
          EXPECT_NEAR(x.grad().view(-1)[i].item<double>(), expected, 1e-7) << rank << " " << i;
        }
      }
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(SyncBatchNorm, AStandInTakesPartAndAddsNothing) {
  const auto outcome = run_training(2, [](Communicator& group, Arena&) {
    const Case given{.sizes = {4, 3, 2, 2}};
    auto layer = layer_for<nn::SyncBatchNorm2d>(given), alone = layer_for<nn::SyncBatchNorm2d>(given);
    nn::SynchronisedLayers layers(group, *layer);
    const auto single = value_or_throw(group.split(group.rank(), 0, "single"));
    const nn::SynchronisedLayers single_layers(*single, *alone);
    const at::Tensor x = rough(given.sizes, 1, given).requires_grad_();
    const at::Tensor y = alone->forward(x);
    (y * y).sum().backward();
    const at::Tensor own = x.detach().clone().requires_grad_();
    if (group.rank() == 1) {
      layers.set_standing(nn::Standing::kStandIn);
      own.data().fill_(std::numeric_limits<double>::quiet_NaN());
    }
    const at::Tensor own_y = layer->forward(own);
    layers.set_standing(nn::Standing::kCounts);  // the graph remembers
    (own_y * own_y).sum().backward();
    if (group.rank() == 0) {
      EXPECT_TRUE(at::equal(own_y, y));
      EXPECT_TRUE(at::equal(own.grad(), x.grad()));
    } else {
      EXPECT_EQ(own.grad().abs().max().item<double>(), 0);
      EXPECT_EQ(layer->weight.grad().abs().max().item<double>(), 0);
      EXPECT_EQ(layer->bias.grad().abs().max().item<double>(), 0);
    }
    EXPECT_TRUE(at::equal(layer->running_mean, alone->running_mean));
    EXPECT_TRUE(at::equal(layer->running_var, alone->running_var));
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(SyncBatchNorm, UnderAutocastStatisticsAreInF32) {
  const auto outcome = run_training(2, [](Communicator& group, Arena&) {
    torch::nn::Conv2d convolution(torch::nn::Conv2dOptions(2, 4, 1));
    {
      const at::NoGradGuard no_grad;
      for (at::Tensor& each : convolution->parameters()) each.fill_(0.5);
    }
    nn::SyncBatchNorm2d layer(4);
    const nn::SynchronisedLayers layers(group, *layer);
    const at::Tensor x = at::arange(2 * 2 * 3 * 3, at::kFloat).view({2, 2, 3, 3}) / 8 + group.rank();
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    const at::Tensor middle = convolution->forward(x);
    const at::Tensor y = layer->forward(middle);
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
    EXPECT_EQ(middle.scalar_type(), at::kBFloat16);
    EXPECT_EQ(y.scalar_type(), at::kBFloat16);
    EXPECT_EQ(layer->running_mean.scalar_type(), at::kFloat);
    const at::Tensor mean = over_ranks(group, middle.to(at::kFloat).mean({0, 2, 3})) / 2;
    EXPECT_TRUE(at::allclose(layer->running_mean, 0.1 * mean, 1e-6, 1e-6));
    y.to(at::kFloat).square().sum().backward();
    EXPECT_EQ(layer->weight.grad().scalar_type(), at::kFloat);
    EXPECT_EQ(convolution->weight.grad().scalar_type(), at::kFloat);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(SyncBatchNorm, MistakesAreExplained) {
  const auto outcome = run_training(2, [](Communicator& group, Arena&) {
    nn::SyncBatchNorm2d layer(3);
    const auto text_of = [](const auto& mistake) -> std::string {
      try {
        mistake();
      } catch (const UsageError& error) {
        return error.text();
      }
      return "nothing was thrown";
    };
    const at::Tensor x = at::ones({1, 3, 1, 1});
    EXPECT_NE(text_of([&] { layer->forward(x); }).find("no group of ranks"), std::string::npos);
    const nn::SynchronisedLayers layers(group, *layer);
    EXPECT_NE(text_of([&] {
                layer->forward(at::ones({2, 4, 1, 1}));
              }).find("[2, 4, 1, 1]"),
              std::string::npos);
    EXPECT_NE(text_of([&] {
                layer->forward(at::ones({2, 3, 1}));
              }).find("expected 4 dims"),
              std::string::npos);
    EXPECT_NE(text_of([&] { layer->forward(x.to(at::kLong)); }).find("expected floats"), std::string::npos);
    // One value on one of the ranks, nothing on the other.
    EXPECT_NE(
        text_of([&] { layer->forward(x.narrow(0, 0, group.rank())); }).find("one value of each channel"),
        std::string::npos);
    // One value on each rank is enough.
    const at::Tensor y = layer->forward((x + group.rank()).requires_grad_());
    EXPECT_NE(text_of([&] {
                y.sum().backward({}, /*retain_graph=*/true, /*create_graph=*/true);
              }).find("gradient of its gradient"),
              std::string::npos);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(SyncBatchNorm, NoRankHasSamples) {
  const auto outcome = run_training(2, [](Communicator& group, Arena&) {
    nn::SyncBatchNorm1d layer(3);
    const nn::SynchronisedLayers layers(group, *layer);
    const at::Tensor x = at::ones({0, 3}).requires_grad_();
    layer->forward(x).sum().backward();
    EXPECT_EQ(layer->running_var.sum().item<float>(), 3);
    EXPECT_EQ(layer->weight.grad().abs().sum().item<float>(), 0);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(SyncBatchNorm, InEvaluationModeARankNeedsNoOther) {
  const auto outcome = run_training(2, [](Communicator& group, Arena&) {
    nn::SyncBatchNorm1d layer(3);
    const nn::SynchronisedLayers layers(group, *layer);
    layer->eval();
    if (group.rank() == 0) layer->forward(at::ones({2, 3}).requires_grad_()).sum().backward();
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(SyncBatchNorm, ATrainingTakesOverFromAnotherAndLeavesNothing) {
  const auto outcome = run_training(1, [](Communicator& group, Arena&) {
    nn::SyncBatchNorm1d layer(3);
    auto first = std::make_unique<nn::SynchronisedLayers>(group, *layer);
    const auto second = std::make_unique<nn::SynchronisedLayers>(group, *layer);
    first.reset();
    EXPECT_NE(layer->exchange(), nullptr);
    const auto users = nn::StatisticsExchange::make(group, nn::ConnectedBy::kUser);
    layer->set_exchange(users);
    {
      const nn::SynchronisedLayers third(group, *layer);
      EXPECT_EQ(layer->exchange(), users);
    }
    EXPECT_EQ(layer->exchange(), users);
    layer->set_exchange(nullptr);
    { const nn::SynchronisedLayers fourth(group, *layer); }
    EXPECT_EQ(layer->exchange(), nullptr);
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
