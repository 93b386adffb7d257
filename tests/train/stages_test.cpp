// A model given as stages and a loss is trained to the bits of the same layers with an objective.

#include "train/small_models.h"
#include "train/training_world.h"

#include <cohort/dropout.h>
#include <cohort/error.h>
#include <gtest/gtest.h>
#include <torch/optim/sgd.h>

namespace cohort::test {
namespace {

OutputLoss summed_cross_entropy() {
  return [](const at::Tensor& output, const Batch& batch) {
    const auto samples = static_cast<double>(batch.samples.size());
    return Evaluation{.loss = at::cross_entropy_loss(output, batch.target, {}, at::Reduction::Sum),
                      .weight = samples,
                      .correct = (output.argmax(1) == batch.target).sum().item<double>(),
                      .counted = samples};
  };
}

/// Makes the same layers again, as one net.
using MakeNet = std::function<torch::nn::Sequential()>;

struct StagedCase {
  MakeNet make;
  std::int64_t samples = 33;  // batches of 16, 16 and 1: some micro-batches are empty
  int micro_batches_per_rank = 2;
};

Stages stages_of(const torch::nn::Sequential& net) {
  std::vector<Stage> stages;
  for (const torch::nn::AnyModule& layer : *net) stages.push_back(torch::nn::Sequential(layer));
  return stages;
}

TrainerOptions options_for(int way) {
  TrainerOptions options{.optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.01},
                         .batch_size = 16,
                         .micro_batches = 4,
                         .epochs = 2};
  if (way == 1) options.deterministic = Deterministic::kAnyWorld;
  if (way == 2) options.clip_grad_norm = 0.5;
  if (way == 3) options.bucket_bytes = 64;  // buckets are reduced while backward goes on
  return options;
}

struct StagedRun {
  std::vector<float> numbers;
  double loss = 0;
  double test_loss = 0;
};

StagedRun with_objective(Communicator& group, Arena& arena, const StagedCase& given,
                         const TrainerOptions& options) {
  auto net = given.make();
  Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
  const TrainingReport report =
      trainer.fit(std::make_shared<RoughNumbers>(given.samples), std::make_shared<RoughNumbers>(11));
  return {numbers_of(*net), report.loss, report.last->loss};
}

StagedRun with_stages(Communicator& group, Arena& arena, const StagedCase& given,
                      const TrainerOptions& options) {
  const Stages net = stages_of(given.make());
  Trainer trainer(group, arena, net, summed_cross_entropy(), nullptr, options);
  const TrainingReport report =
      trainer.fit(std::make_shared<RoughNumbers>(given.samples), std::make_shared<RoughNumbers>(11));
  return {numbers_of(*net.module()), report.loss, report.last->loss};
}

void expect_same_bits(const StagedCase& given) {
  for (const int world : {1, 2}) {
    for (int way = 0; way < 4; ++way) {
      const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
        TrainerOptions options = options_for(way);
        options.micro_batches = given.micro_batches_per_rank * group.size();
        const StagedRun expected = with_objective(group, arena, given, options);
        const StagedRun found = with_stages(group, arena, given, options);
        EXPECT_EQ(found.numbers, expected.numbers) << "way " << way << " on " << world;
        EXPECT_EQ(found.loss, expected.loss);
        EXPECT_EQ(found.test_loss, expected.test_loss);
        EXPECT_NE(found.numbers, numbers_of(*given.make()));
      });
      EXPECT_WORLD_OK(outcome);
    }
  }
}

TEST(Stages, AreTrainedToTheBitsOfAnObjective) {
  expect_same_bits({.make = small_net});
}

TEST(Stages, MayHaveNoParametersAndBuffersThatChange) {
  const MakeNet make = [] {
    return with_fixed_numbers(torch::nn::Sequential(torch::nn::Flatten(), torch::nn::Linear(6, 9),
                                                    torch::nn::BatchNorm1d(9), cohort::Dropout(0.2),
                                                    torch::nn::ReLU(), torch::nn::Linear(9, 3)));
  };
  expect_same_bits({.make = make, .samples = 40});  // no micro-batch of one sample, which has no variance
}

// The gradients of a shared layer arrive stage by stage. Where a rank has several micro-batches, sums are
// made in another order than with an objective, and may be rounded otherwise.
TEST(Stages, MayShareALayer) {
  const MakeNet make = [] {
    torch::nn::Linear shared(6, 6);
    return with_fixed_numbers(torch::nn::Sequential(shared, torch::nn::Tanh(), shared, torch::nn::Tanh(),
                                                    shared, torch::nn::Linear(6, 3)));
  };
  expect_same_bits({.make = make, .micro_batches_per_rank = 1});
}

TEST(Stages, AreActionsOfTheirOwn) {
  const auto outcome = run_training(1, [](Communicator& group, Arena& arena) {
    TrainerOptions options = options_for(0);
    options.micro_batches = 1;
    options.steps = 1;
    options.trace = 100;
    Trainer trainer(group, arena, stages_of(small_net()), summed_cross_entropy(), nullptr, options);
    trainer.fit(std::make_shared<RoughNumbers>(16));
    std::vector<std::string> seen;
    for (const auto& action : trainer.trace().actions) {
      if (action.stage) seen.push_back(action.verb + " " + std::to_string(*action.stage));
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"forward 0", "forward 1", "forward 2", "backward 2",
                                              "backward 1", "backward 0"}));
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Stages, NameTheirParametersByNumber) {
  const Stages net({torch::nn::Linear(6, 9), torch::nn::Tanh(), torch::nn::Linear(9, 3)});
  std::vector<std::string> names;
  for (const auto& item : net.module()->named_parameters()) names.push_back(item.key());
  EXPECT_EQ(names, (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"}));
  EXPECT_EQ(net.size(), 3u);
  EXPECT_EQ(net.forward(at::zeros({2, 6})).sizes(), at::IntArrayRef({2, 3}));
  EXPECT_THROW(Stages(std::vector<Stage>{}), UsageError);
  EXPECT_THROW(Stages({Stage(std::shared_ptr<torch::nn::LinearImpl>())}), UsageError);
}

TEST(Stages, ObeyGroupsAndAnOptimizerOfTorch) {
  const auto outcome = run_training(2, [](Communicator& group, Arena& arena) {
    TrainerOptions options = options_for(0);
    options.groups = {{.patterns = {"0.*"}, .frozen = true}};
    const Stages net = stages_of(small_net());
    const at::Tensor frozen = net.module()->parameters()[0].detach().clone();
    const at::Tensor last = net.module()->parameters()[3].detach().clone();
    Trainer(group, arena, net, summed_cross_entropy(), nullptr, options)
        .fit(std::make_shared<RoughNumbers>(37));
    EXPECT_TRUE(at::equal(net.module()->parameters()[0], frozen));
    EXPECT_FALSE(at::equal(net.module()->parameters()[3], last));

    const TrainerOptions plain{.batch_size = 16, .epochs = 2};
    const Stages staged = stages_of(small_net());
    torch::optim::SGD of_stages(staged.module()->parameters(), torch::optim::SGDOptions(0.1));
    Trainer(group, arena, staged, summed_cross_entropy(), &of_stages, plain)
        .fit(std::make_shared<RoughNumbers>(37));
    auto whole = small_net();
    torch::optim::SGD of_net(whole->parameters(), torch::optim::SGDOptions(0.1));
    Trainer(group, arena, whole.ptr(), cross_entropy(whole), &of_net, plain)
        .fit(std::make_shared<RoughNumbers>(37));
    EXPECT_EQ(numbers_of(*staged.module()), numbers_of(*whole));
  });
  EXPECT_WORLD_OK(outcome);
}

// Random layers of torch draw by (step, stage, micro-batch), so a repetition has the same bits.
TEST(Stages, WithRandomLayersOfTorchAreRepeatable) {
  const MakeNet make = [] {
    return with_fixed_numbers(torch::nn::Sequential(torch::nn::Linear(6, 9), torch::nn::Dropout(0.5),
                                                    torch::nn::Linear(9, 9), torch::nn::Dropout(0.5),
                                                    torch::nn::Linear(9, 3)));
  };
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    const StagedRun once = with_stages(group, arena, {make}, options_for(0));
    EXPECT_EQ(with_stages(group, arena, {make}, options_for(0)).numbers, once.numbers);
    TrainerOptions other = options_for(0);
    other.seed = 2;
    other.shuffle = false;
    const StagedRun unshuffled = with_stages(group, arena, {make}, other);
    other.seed = 3;
    EXPECT_NE(with_stages(group, arena, {make}, other).numbers, unshuffled.numbers);
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
