#include "gradients.h"
#include "training_world.h"

#include <cohort/data_parallel.h>

#include <gtest/gtest.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/embedding.h>
#include <torch/optim/sgd.h>

namespace cohort::test {
namespace {

TEST(DataParallel, EveryRankHasTheMeanGradientAfterBackward) {
  for (const int world : {1, 2, 4}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      auto layer = exact_linear();
      if (group.rank() != 0)
        layer->weight.data().fill_(9);  // DataParallel copies the weights of rank 0 to all ranks
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

TEST(DataParallel, OnlyParametersThatNoRankUsedHaveNoGradient) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    ThreeLayers net;
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

// Element types that some ranks do not use must not change the order of calls.
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

// Backward with create_graph, as gradient penalties use it, must not leave a graph in the buckets.
TEST(DataParallel, GradientsHaveNoGraph) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    for (int round = 0; round < 2; ++round) {
      c10::weak_intrusive_ptr<c10::TensorImpl> used{c10::intrusive_ptr<c10::TensorImpl>()};
      layer->zero_grad();
      {
        const auto only_mine = parallel.accumulate();
        const Batch batch = share(group, 16);
        used = c10::weak_intrusive_ptr<c10::TensorImpl>(batch.input.getIntrusivePtr());
        mean_square(layer, batch).backward({}, /*retain_graph=*/true, /*create_graph=*/true);
      }
      EXPECT_FALSE(layer->weight.grad().requires_grad());
      EXPECT_TRUE(used.expired()) << "the graph is still held";
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
      EXPECT_EQ(net.scale.item<double>(), 0.1);
      EXPECT_EQ(net.running.item<float>(), 3);
      EXPECT_EQ(net.counter.item<std::int64_t>(), 2 * (round + 1));
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallel, TheDestructorFreesGradients) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    {
      DataParallel parallel(group, arena, *layer);
      mean_square(layer, share(group, 16)).backward();
    }
    EXPECT_FALSE(layer->weight.grad().defined());
    mean_square(layer, share(group, 16)).backward();  // the gradient is in the module's own memory again
    EXPECT_TRUE(layer->weight.grad().defined());
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
