#include "gradients.h"
#include "training_world.h"

#include <cohort/data_parallel.h>
#include <cohort/error.h>

#include <gtest/gtest.h>
#include <sstream>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>

namespace cohort::test {
namespace {

/// Runs a backward that must fail with these words.
template <class Backward>
void expect_refusal(const std::string& words, const Backward& backward) {
  std::string text = "no error";
  try {
    backward();
  } catch (const Error& error) {
    text = error.text();
  }
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST(ModuleChanges, LoadedParametersAreAveragedAsBefore) {
  std::ostringstream out;
  torch::save(exact_linear(), out);
  const std::string file = out.str();
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    for (int step = 0; step < 3; ++step) {
      std::istringstream in(file);
      torch::load(layer, in);
      layer->zero_grad();
      mean_square(layer, share(group, 16)).backward();
      EXPECT_EQ(gradients(*layer), gradients_of_all(16)) << "step " << step;
    }
  }));
}

TEST(ModuleChanges, AnotherTypeIsNamedInTheSameStep) {
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    mean_square(layer, share(group, 16)).backward();
    layer->to(at::kDouble);
    layer->zero_grad();
    Batch batch = share(group, 16);
    batch.input = batch.input.to(at::kDouble);
    batch.target = batch.target.to(at::kDouble);
    expect_refusal("parameter 'weight' is of type Double now", [&] { mean_square(layer, batch).backward(); });
  }));
}

TEST(ModuleChanges, AnAddedParameterIsNamedInTheSameStep) {
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    mean_square(layer, share(group, 16)).backward();
    const at::Tensor scale = layer->register_parameter("scale", at::ones({1}));
    expect_refusal("parameter 'scale' was added or replaced",
                   [&] { (mean_square(layer, share(group, 16)) * scale).sum().backward(); });
  }));
}

TEST(ModuleChanges, AnUnfrozenParameterIsNamedInTheSameStep) {
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena& arena) {
    ThreeLayers net;
    for (const at::Tensor& parameter : net.other->parameters()) parameter.set_requires_grad(false);
    DataParallel parallel(group, arena, net);
    const Batch batch = share(group, 16);
    net.used->forward(batch.input).sum().backward();
    for (const at::Tensor& parameter : net.other->parameters()) parameter.set_requires_grad(true);
    expect_refusal("parameter 'other.weight' requires a gradient now",
                   [&] { net.other->forward(batch.input).sum().backward(); });
  }));
}

TEST(ModuleChanges, OfOneRankEndTheStepOnAllRanks) {
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer);
    mean_square(layer, share(group, 16)).backward();
    if (group.rank() == 1) layer->register_parameter("scale", at::ones({1}));
    expect_refusal("parameter 'scale' was added or replaced",
                   [&] { mean_square(layer, share(group, 16)).backward(); });
  }));
}

TEST(ModuleChanges, ParametersThatDriftApartAreNamed) {
  EXPECT_WORLD_OK(run_training(3, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    DataParallel parallel(group, arena, *layer, {.hash_every = 5});
    const auto step = [&](double rate) {
      torch::optim::SGD optimizer(layer->parameters(), torch::optim::SGDOptions(rate));
      optimizer.zero_grad();
      mean_square(layer, share(group, 12)).backward();
      optimizer.step();
    };
    for (int i = 0; i < 3; ++i) step(0.01);
    step(group.rank() == 1 ? 0.02 : 0.01);
    expect_refusal("before step 5 the parameters of rank 1 differ from those of the others",
                   [&] { step(0.01); });
  }));
}

}  // namespace
}  // namespace cohort::test
