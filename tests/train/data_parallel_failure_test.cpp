#include "gradients.h"
#include "training_world.h"

#include <cohort/data_parallel.h>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>

namespace cohort::test {
namespace {

struct Refusal : torch::autograd::Function<Refusal> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& input) { return input * 1; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    throw std::runtime_error("refused in backward");
  }
};

TEST(DataParallelFailure, ABackwardThatFailedIsNotForgotten) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    ThreeLayers net;
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
      ADD_FAILURE() << "the call returned, expected an exception";
    } catch (const Error& error) {
      EXPECT_NE(error.text().find("an earlier backward failed"), std::string::npos) << error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(DataParallelFailure, AnotherModuleOnOneRankIsRefused) {
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
  EXPECT_NE(said.find("the module of rank 1"), std::string::npos) << said;
}

TEST(DataParallelFailure, ARankThatLeavesIsNamedInBackward) {
  std::string said;
  std::optional<int> lost;
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    if (group.rank() == 1) return;
    try {
      mean_square(layer, share(group, 16)).backward();
    } catch (const Error& error) {
      said = error.text();
      lost = error.rank();
    }
  });
  EXPECT_WORLD_OK(outcome);
  EXPECT_NE(said.find("rank 1"), std::string::npos) << said;
  EXPECT_EQ(lost, 1);
}

}  // namespace
}  // namespace cohort::test
