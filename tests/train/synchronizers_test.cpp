// Every synchronizer: a new line in synchronizer_kinds() adds a case to each test.

#include "train/synchronizer.h"

#include "train/small_models.h"
#include "train/training_world.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace cohort::test {
namespace {

/// The buckets that each synchronizer reduces in the three steps of `train`, of 6 buckets each: two of a
/// layer that all steps use, two of a layer that the first two steps use, two of a layer that no step uses.
const std::map<std::string, int> kReductions = {{"lock_step", 18}};

struct Trained {
  std::vector<float> numbers{};
  int num_reductions = 0;
};

/// Three steps: all but the last use the second layer, none the third. Buckets have another layout from the
/// second step on.
Trained train(Communicator& group, Arena& arena, TrainerOptions options) {
  const auto net = std::make_shared<ThreeLayers>();
  const Objective objective = [net, calls = 0](const Batch& batch) mutable {
    at::Tensor output = net->used->forward(batch.input);
    if (calls++ < 2) output = output + net->other->forward(batch.input);
    return Evaluation{.loss = (output - batch.target).square().sum(),
                      .weight = static_cast<double>(batch.samples.size())};
  };
  options.optimizer.weight_decay = 0.5;  // with momentum, a parameter that counts as used by mistake moves
  options.bucket_bytes = 64;
  options.trace = 1000;
  Trainer trainer(group, arena, net, objective, options);
  trainer.fit(std::make_shared<WholeNumbers>(48));
  const Trace trace = trainer.trace();
  const auto reductions = std::count_if(trace.calls.begin(), trace.calls.end(), [](const CallRecord& call) {
    return call.operation == "reduce_scatter";
  });
  return {numbers_of(*net), static_cast<int>(reductions)};
}

Trained train_alone(Communicator& group, Arena& arena, const TrainerOptions& options) {
  const auto alone = value_or_throw(group.split(group.rank(), 0, "alone"));
  return train(*alone, arena, options);
}

class EverySynchronizer : public ::testing::TestWithParam<std::string> {
 protected:
  TrainerOptions with_synchronizer(TrainerOptions options) const {
    options.groups = {{.patterns = {"*"}, .synchronizer = GetParam()}};
    return options;
  }
};

TEST_P(EverySynchronizer, SeveralRanksAreOneRankOnTheWhole) {
  for (const int world : {1, 2, 3}) {
    EXPECT_WORLD_OK(run_training(world, [this](Communicator& group, Arena& arena) {
      for (const bool waits : {false, true}) {
        for (const bool one_copy : {true, false}) {
          TrainerOptions options = exact_options();
          if (waits) options.clip_grad_norm = 1e6;  // updates wait for the vote
          options.one_copy = one_copy;
          const std::vector<float> expected = train_alone(group, arena, options).numbers;
          EXPECT_EQ(train(group, arena, with_synchronizer(options)).numbers, expected);
          EXPECT_NE(expected, numbers_of(ThreeLayers()));
        }
      }
    }));
  }
}

TEST_P(EverySynchronizer, TheNormIsThatOfTheStep) {
  EXPECT_WORLD_OK(run_training(2, [this](Communicator& group, Arena& arena) {
    TrainerOptions options = exact_options();
    options.clip_grad_norm = 0.5;
    const std::vector<float> expected = train(group, arena, options).numbers;  // by lock step, the default
    EXPECT_EQ(train(group, arena, with_synchronizer(options)).numbers, expected);
  }));
}

TEST_P(EverySynchronizer, ReducesAsManyBucketsAsItShould) {
  EXPECT_WORLD_OK(run_training(2, [this](Communicator& group, Arena& arena) {
    EXPECT_EQ(train(group, arena, with_synchronizer(exact_options())).num_reductions,
              kReductions.at(GetParam()));
  }));
}

std::vector<std::string> names_of_synchronizers() {
  std::vector<std::string> names;
  for (const train::SynchronizerKind& kind : train::synchronizer_kinds()) names.emplace_back(kind.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Kinds, EverySynchronizer, ::testing::ValuesIn(names_of_synchronizers()),
                         [](const ::testing::TestParamInfo<std::string>& kind) { return kind.param; });

}  // namespace
}  // namespace cohort::test
