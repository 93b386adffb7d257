#include "small_models.h"
#include "training_world.h"

#include <cohort/data_parallel.h>

#include <gtest/gtest.h>
#include <torch/optim/sgd.h>

namespace cohort::test {
namespace {

Batch part_of(const Dataset& data, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> samples;
  for (std::int64_t i = first; i < last; ++i) samples.push_back(i);
  return data.batch(samples);
}

at::Tensor mean_square(torch::nn::Linear& layer, const Batch& batch) {
  return (layer->forward(batch.input) - batch.target).square().mean();
}

// What one process would have after the whole batch.
std::vector<float> gradients_of_all(std::int64_t samples, int times = 1) {
  const WholeNumbers data(samples);
  auto layer = exact_linear();
  for (int i = 0; i < times; ++i) mean_square(layer, part_of(data, 0, samples)).backward();
  std::vector<float> all;
  for (const at::Tensor& p : layer->parameters()) {
    const at::Tensor flat = p.grad().contiguous().view(-1);
    all.insert(all.end(), flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel());
  }
  return all;
}

std::vector<float> gradients(const torch::nn::Module& module) {
  std::vector<float> all;
  for (const at::Tensor& p : module.parameters()) {
    const at::Tensor flat = p.grad().contiguous().view(-1);
    all.insert(all.end(), flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel());
  }
  return all;
}

Batch share(const Communicator& group, std::int64_t samples) {
  const std::int64_t each = samples / group.world();
  return part_of(WholeNumbers(samples), each * group.rank(), each * (group.rank() + 1));
}

TEST(DataParallel, EveryRankHasTheMeanGradientAfterBackward) {
  for (const int world : {1, 2, 4}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      auto layer = exact_linear();
      if (group.rank() != 0) layer->weight.data().fill_(9);  // all begin with rank 0's
      DataParallel parallel(group, arena, *layer, {.bucket_bytes = 16});
      for (int step = 0; step < 3; ++step) {
        layer->zero_grad();
        mean_square(layer, share(group, 16)).backward();
        EXPECT_EQ(gradients(*layer), gradients_of_all(16)) << "step " << step;
      }
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(DataParallel, BothWaysOfZeroingWork) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    torch::optim::SGD optimizer(layer->parameters(), torch::optim::SGDOptions(0.0));
    for (const bool to_none : {true, false, true, false}) {
      optimizer.zero_grad(to_none);
      mean_square(layer, share(group, 16)).backward();
      optimizer.step();
      EXPECT_EQ(gradients(*layer), gradients_of_all(16));
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallel, SeveralBackwardsAddUp) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    for (int round = 0; round < 2; ++round) {
      layer->zero_grad();
      mean_square(layer, share(group, 16)).backward();
      mean_square(layer, share(group, 16)).backward();
      EXPECT_EQ(gradients(*layer), gradients_of_all(16, 2)) << round;
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallel, AccumulationStaysOnTheRankUntilTheLastBackward) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    for (int round = 0; round < 2; ++round) {
      layer->zero_grad();
      {
        const auto only_mine = parallel.accumulate();
        mean_square(layer, share(group, 16)).backward();
        auto alone = exact_linear();
        mean_square(alone, share(group, 16)).backward();
        EXPECT_EQ(gradients(*layer), gradients(*alone));
      }
      mean_square(layer, share(group, 16)).backward();
      EXPECT_EQ(gradients(*layer), gradients_of_all(16, 2)) << round;
    }
  });
  EXPECT_WORLD_OK(outcome);
}

struct Two : torch::nn::Module {
  Two() {
    used = register_module("used", exact_linear());
    other = register_module("other", exact_linear());
    nobodys = register_module("nobodys", exact_linear());
  }
  torch::nn::Linear used{nullptr}, other{nullptr}, nobodys{nullptr};
};

TEST(DataParallel, WhatSomeRanksUseHasAGradientOnAllWhatNobodyUsesHasNone) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    Two net;
    DataParallel parallel(group, arena, net, {.bucket_bytes = 16});
    for (int round = 0; round < 3; ++round) {
      net.zero_grad();
      const Batch batch = share(group, 16);
      at::Tensor output = net.used->forward(batch.input);
      if (group.rank() == 1) output = output + net.other->forward(batch.input);
      output.sum().backward();
      EXPECT_TRUE(net.used->weight.grad().defined());
      ASSERT_TRUE(net.other->weight.grad().defined());
      EXPECT_EQ(net.other->bias.grad().item<float>(), 4.0f);  // eight samples on one of two ranks
      EXPECT_FALSE(net.nobodys->weight.grad().defined());
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallel, GradientsAreGoneWithIt) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    {
      DataParallel parallel(group, arena, *layer);
      mean_square(layer, share(group, 16)).backward();
    }
    EXPECT_FALSE(layer->weight.grad().defined());
    mean_square(layer, share(group, 16)).backward();  // one's own again
    EXPECT_TRUE(layer->weight.grad().defined());
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallel, ARankThatLeavesIsNamedInBackward) {
  std::string said;
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    if (group.rank() == 1) return;
    try {
      mean_square(layer, share(group, 16)).backward();
    } catch (const Error& error) {
      said = error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
  EXPECT_NE(said.find("rank 1"), std::string::npos) << said;
}

}  // namespace
}  // namespace cohort::test
