#include "small_models.h"
#include "training_world.h"

#include <cohort/data_parallel.h>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/embedding.h>
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

// Large enough for buckets of its own: its gradient is computed in memory that other ranks see.
struct Large : torch::nn::Module {
  Large() {
    const at::NoGradGuard no_grad;
    wide = register_parameter("wide", at::arange(16 * 24, at::kFloat).view({16, 24}).remainder(7) - 3);
    twin = register_parameter("twin", at::arange(24 * 16, at::kFloat).view({24, 16}).remainder(5) - 2);
    last = register_parameter("last", at::ones({16}));
  }
  at::Tensor loss(const at::Tensor& input) const {
    return input.matmul(wide + twin.t()).matmul(ends()).sum();
  }
  at::Tensor ends() const { return at::cat({last, last.slice(0, 0, 8)}); }
  at::Tensor wide, twin, last;
};

at::Tensor whole_numbers(int rank) {
  return (at::arange(5 * 16, at::kFloat).view({5, 16}) + rank).remainder(4);
}

TEST(DataParallel, LargeGradientsAreAveragedWhereTheyWereComputed) {
  for (const int world : {1, 2, 4}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      Large net, alone;
      DataParallel parallel(group, arena, net, {.bucket_bytes = 256});
      for (int round = 0; round < 4; ++round) {
        net.zero_grad();
        alone.zero_grad();
        net.loss(whole_numbers(group.rank() + round)).backward();
        for (int rank = 0; rank < group.world(); ++rank) {
          (alone.loss(whole_numbers(rank + round)) / group.world()).backward();
        }
        EXPECT_EQ(gradients(net), gradients(alone)) << "round " << round;
      }
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(DataParallel, LargeGradientsMayBeChangedAndAddedTo) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    Large net, alone;
    DataParallel parallel(group, arena, net, {.bucket_bytes = 256});
    for (int round = 0; round < 4; ++round) {
      net.zero_grad();
      net.loss(whole_numbers(group.rank())).backward();
      const std::vector<float> once = gradients(net);
      net.wide.mutable_grad().mul_(group.rank() + 2);  // of one's own
      EXPECT_EQ(net.wide.grad().flatten()[30].item<float>(), once[30] * static_cast<float>(group.rank() + 2));
      net.zero_grad();
      for (int i = 0; i < 2; ++i) net.loss(whole_numbers(group.rank())).backward();
      std::vector<float> twice = once;
      for (float& each : twice) each *= 2;
      EXPECT_EQ(gradients(net), twice) << "round " << round;
    }
  });
  EXPECT_WORLD_OK(outcome);
}

// Its backward makes another backward, as layers do that are computed anew.
struct ComputedAnew : torch::autograd::Function<ComputedAnew> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight) {
    context->save_for_backward({input, weight});
    return input.matmul(weight);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradient) {
    const auto saved = context->get_saved_variables();
    const at::AutoGradMode with_gradients(true);
    const at::Tensor input = saved[0].detach().requires_grad_();
    input.matmul(saved[1]).backward(gradient[0]);
    return {input.grad(), at::Tensor()};
  }
};

TEST(DataParallel, GradientsMayComeInParts) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    Large net, alone;
    DataParallel parallel(group, arena, net, {.bucket_bytes = 256});
    const auto loss = [](const Large& module, int rank) {
      const at::Tensor input = whole_numbers(rank).requires_grad_();
      const at::Tensor inner = ComputedAnew::apply(input, module.wide);
      const at::Tensor first = module.loss(input);
      return first + ComputedAnew::apply(inner, module.twin).sum();
    };
    for (int round = 0; round < 3; ++round) {
      net.zero_grad();
      alone.zero_grad();
      loss(net, group.rank()).backward();
      for (int rank = 0; rank < 2; ++rank) (loss(alone, rank) / 2).backward();
      EXPECT_EQ(gradients(net), gradients(alone)) << "round " << round;
    }
  });
  EXPECT_WORLD_OK(outcome);
}

struct Refusal : torch::autograd::Function<Refusal> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& input) { return input * 1; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    throw std::runtime_error("refused in backward");
  }
};

TEST(DataParallel, ABackwardThatFailedIsNotForgotten) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    Two net;
    DataParallel parallel(group, arena, net);
    const Batch batch = share(group, 16);
    const auto loss = [&](bool fails) {
      at::Tensor hidden = net.used->forward(batch.input);
      if (fails) hidden = Refusal::apply(hidden);
      return net.other->forward(hidden.expand({hidden.size(0), batch.input.size(1)})).sum();
    };
    loss(false).backward();
    net.zero_grad();
    EXPECT_ANY_THROW(loss(true).backward());
    net.zero_grad();
    try {
      loss(false).backward();
      ADD_FAILURE() << "went on";
    } catch (const Error& error) {
      EXPECT_NE(error.text().find("an earlier backward failed"), std::string::npos) << error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallel, AnotherModuleOnOneRankIsRefused) {
  std::string said;
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    torch::nn::Linear layer(3, group.rank() + 1);
    try {
      DataParallel parallel(group, arena, *layer);
    } catch (const Error& error) {
      if (group.rank() == 1) said = error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
  EXPECT_NE(said.find("module"), std::string::npos) << said;
}

// Pieces of several megabytes: read from the pool where they are, and written past the cache.
TEST(DataParallel, LargeGradientsTakeTheDirectWay) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    torch::nn::Linear layer(torch::nn::LinearOptions(3000, 1000).bias(false));
    torch::nn::init::ones_(layer->weight);
    torch::nn::Linear last(torch::nn::LinearOptions(1000, 1).bias(false));  // the pool begins after it
    torch::nn::init::ones_(last->weight);
    torch::nn::Sequential both(layer, last);
    DataParallel parallel(group, arena, *both);
    const std::size_t before = arena.allocated_bytes();
    for (int round = 0; round < 3; ++round) {
      both->zero_grad();
      const at::Tensor input = at::arange(3000, at::kFloat).remainder(5).view({1, 3000}) * (group.rank() + 1);
      both->forward(input).sum().backward();
      const at::Tensor expected = (at::arange(3000, at::kFloat).remainder(5) * 1.5).expand({1000, 3000});
      EXPECT_TRUE(at::equal(layer->weight.grad(), expected)) << "round " << round;
    }
    EXPECT_GE(arena.allocated_bytes(), before + layer->weight.nbytes()) << "nothing was in the pool";
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallel, WhatLiesInThePoolMayOutliveEverything) {
  std::vector<at::Tensor> kept(2);
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    Large net;
    DataParallel parallel(group, arena, net, {.bucket_bytes = 256});
    at::Tensor like_a_gradient = at::ones({16, 24}).requires_grad_();
    for (int round = 0; round < 2; ++round) {
      net.zero_grad();
      at::Tensor loss = net.loss(whole_numbers(0)) + (like_a_gradient * 1.5 * 2).sum();
      loss.backward();
    }
    kept[static_cast<std::size_t>(group.rank())] = like_a_gradient.grad();
  });
  EXPECT_WORLD_OK(outcome);
  for (const at::Tensor& each : kept) EXPECT_EQ(each.sum().item<float>(), 2 * 3 * 16 * 24);
}

// Types that some ranks do not use must not change the order of calls.
TEST(DataParallel, SeveralTypesAndUnevenUse) {
  const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
    torch::nn::Linear small(2, 1), large(2, 30);
    small->to(at::kDouble);
    torch::nn::ModuleList net(small, large);
    DataParallel parallel(group, arena, *net, {.bucket_bytes = 64});
    for (int round = 0; round < 4; ++round) {
      net->zero_grad();
      at::Tensor loss = large->forward(at::ones({1, 2})).sum();
      if (group.rank() != round % 3) loss = loss + small->forward(at::ones({1, 2}, at::kDouble)).sum();
      loss.backward();
      EXPECT_EQ(large->bias.grad()[7].item<float>(), 1);
      EXPECT_NEAR(small->bias.grad().item<double>(), 2.0 / 3, 1e-15);
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallel, TwoInOneBackwardDoNotMeet) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    Large first, second;
    DataParallel a(group, arena, first, {.bucket_bytes = 256});
    DataParallel b(group, arena, second, {.bucket_bytes = 256});
    for (int round = 0; round < 20; ++round) {
      first.zero_grad();
      second.zero_grad();
      const float share = group.rank() == 0 ? 1 : 3;
      (first.loss(whole_numbers(0)) * share + second.loss(whole_numbers(1)) * share * 2).backward();
      Large alone;
      (alone.loss(whole_numbers(0)) * 2).backward();
      EXPECT_EQ(gradients(first), gradients(alone)) << "round " << round;
      Large other;
      (other.loss(whole_numbers(1)) * 4).backward();
      EXPECT_EQ(gradients(second), gradients(other)) << "round " << round;
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallel, SparseGradientsBecomeDense) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    torch::nn::Embedding table(torch::nn::EmbeddingOptions(5, 3).sparse(true));
    DataParallel parallel(group, arena, *table);
    for (int round = 0; round < 2; ++round) {
      table->zero_grad();
      table->forward(at::full({4}, group.rank() + 1, at::kLong)).sum().backward();
      const at::Tensor gradient = table->weight.grad();
      EXPECT_EQ(gradient.layout(), at::kStrided);
      EXPECT_EQ(gradient.select(1, 0).sum().item<float>(), 4);
      EXPECT_EQ(gradient[group.rank() + 1][2].item<float>(), 2);
    }
  });
  EXPECT_WORLD_OK(outcome);
}

// Backward with a graph of its own, as penalties on gradients make it, leaves none behind in the buckets.
TEST(DataParallel, GradientsHaveNoGraph) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    for (int round = 0; round < 2; ++round) {
      layer->zero_grad();
      {
        const auto only_mine = parallel.accumulate();
        mean_square(layer, share(group, 16)).backward({}, /*retain_graph=*/true, /*create_graph=*/true);
      }
      EXPECT_FALSE(layer->weight.grad().requires_grad());
      mean_square(layer, share(group, 16)).backward({}, true, true);
      EXPECT_FALSE(layer->weight.grad().requires_grad());
      EXPECT_EQ(gradients(*layer), gradients_of_all(16, 2));
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallel, BuffersThatChangeAreAveragedOthersStay) {
  const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
    Masked net;
    DataParallel parallel(group, arena, net);
    const at::Tensor mask = net.mask.clone();
    for (int round = 0; round < 3; ++round) {
      net.zero_grad();
      net.running.fill_(group.rank() * 3);
      net.counter.add_(group.rank() == 1 ? 2 : 1);
      net.layer->forward(share(group, 15).input).sum().backward();
      EXPECT_TRUE(at::equal(net.mask, mask));
      EXPECT_EQ(net.running.item<float>(), 3);
      EXPECT_EQ(net.counter.item<std::int64_t>(), 2 * (round + 1));
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
