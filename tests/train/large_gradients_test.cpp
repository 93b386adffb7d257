#include "gradients.h"
#include "training_world.h"

#include <cohort/data_parallel.h>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/container/sequential.h>

namespace cohort::test {
namespace {

// A parameter large enough for buckets of its own: its gradient is computed in memory that other ranks see.
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

TEST(LargeGradients, AreRightWhereverTheyWereComputed) {
  for (const int world : {1, 2, 4}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      Large net, alone;
      DataParallel parallel(group, arena, net, {.bucket_bytes = 256});
      for (int round = 0; round < 4; ++round) {
        net.zero_grad();
        alone.zero_grad();
        net.loss(whole_numbers(group.rank() + round)).backward();
        for (int rank = 0; rank < group.size(); ++rank) {
          (alone.loss(whole_numbers(rank + round)) / group.size()).backward();
        }
        EXPECT_EQ(gradients(net), gradients(alone)) << "round " << round;
      }
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(LargeGradients, MayBeChangedAndAddedTo) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    Large net, alone;
    DataParallel parallel(group, arena, net, {.bucket_bytes = 256});
    for (int round = 0; round < 4; ++round) {
      net.zero_grad();
      net.loss(whole_numbers(group.rank())).backward();
      const std::vector<float> once = gradients(net);
      net.wide.mutable_grad().mul_(group.rank() + 2);  // a change by the user, different on every rank
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

// Pieces of several megabytes: read from the pool where they are, and written past the cache.
TEST(LargeGradients, TakeTheDirectWay) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    torch::nn::Linear layer(torch::nn::LinearOptions(3000, 1000).bias(false));
    torch::nn::init::ones_(layer->weight);
    torch::nn::Linear last(torch::nn::LinearOptions(1000, 1).bias(
        false));  // its gradient comes first; the pool begins behind its bucket
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
    EXPECT_GE(arena.allocated_bytes(), before + layer->weight.nbytes()) << "the gradient was not in the pool";
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(LargeGradients, MemoryOfThePoolMayOutliveDataParallel) {
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

TEST(LargeGradients, OfTwoModulesInOneBackwardDoNotMeet) {
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

// A function whose backward runs another backward, as activation checkpointing does.
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

TEST(LargeGradients, MayComeInParts) {
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

}  // namespace
}  // namespace cohort::test
