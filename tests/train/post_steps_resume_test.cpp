// A training with averages and masks that is interrupted at every step.

#include "storage/temporary_directory.h"
#include "train/small_models.h"
#include "train/training_world.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

struct AveragedRun {
  TrainingReport report{};
  std::vector<float> averages{};
  std::vector<float> numbers{};
};

std::vector<float> widened_numbers(const torch::nn::Module& module) {
  std::vector<float> all;
  for (const at::Tensor& parameter : module.parameters()) {
    const at::Tensor wide = parameter.detach().to(at::kFloat).contiguous();
    all.insert(all.end(), wide.const_data_ptr<float>(), wide.const_data_ptr<float>() + wide.numel());
  }
  return all;
}

AveragedRun averaged_run(int world, const TrainerOptions& options) {
  AveragedRun run;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(43));
    std::vector<float> averages;
    if (report.averages > 0) trainer.with_averages([&] { averages = widened_numbers(*net); });
    if (group.rank() == 0) run = {report, averages, widened_numbers(*net)};
  });
  EXPECT_WORLD_OK(outcome);
  return run;
}

TrainerOptions resumable(const AverageOptions& average) {
  return {.optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.05},
          .average = average,
          .mask = {.sparsity = 0.3},
          .batch_size = 8,
          .micro_batches = 4,
          .epochs = 1,
          .deterministic = Deterministic::kAnyWorld,
          .bucket_bytes = 256};
}

void expect_same_averages(const TrainerOptions& options, int before, int after) {
  const AveragedRun whole = averaged_run(before, options);
  for (std::int64_t steps = 1; steps < whole.report.steps; ++steps) {
    const TemporaryDirectory folder;
    TrainerOptions first = options, second = options;
    first.checkpoint = CheckpointOptions{.directory = folder.path(), .background = false};
    second.checkpoint = first.checkpoint;
    first.steps = steps;
    averaged_run(before, first);
    second.resume = "";
    const AveragedRun resumed = averaged_run(after, second);
    EXPECT_TRUE(resumed.report.resumed);
    EXPECT_EQ(resumed.averages, whole.averages) << steps;
    EXPECT_EQ(resumed.numbers, whole.numbers) << steps;
    EXPECT_EQ(resumed.report.averages, whole.report.averages) << steps;
    EXPECT_EQ(resumed.report.masked, whole.report.masked) << steps;
    EXPECT_EQ(resumed.report.parameters_hash, whole.report.parameters_hash) << steps;
  }
}

TEST(PostStepsResume, AveragesAndMasksGoOn) {
  const AverageOptions ema{.kind = AverageKind::kEma, .decay = 0.6, .warmup = true};
  const AverageOptions swa{.kind = AverageKind::kSwa, .start = 2, .every = 2};
  expect_same_averages(resumable(ema), 2, 2);
  expect_same_averages(resumable(swa), 4, 2);
  expect_same_averages(resumable(ema), 1, 4);
}

TEST(PostStepsResume, NarrowParametersGoOn) {
  TrainerOptions options = resumable({.kind = AverageKind::kEma, .decay = 0.6});
  options.precision = {.compute = ComputeType::kBF16, .parameters = DType::kBF16};
  expect_same_averages(options, 2, 4);
}

TEST(PostStepsResume, OtherAveragesThanSavedAreRefused) {
  TrainerOptions with = resumable({.kind = AverageKind::kSwa}), without = with;
  without.average = {};
  for (const auto& [saving, resuming] : {std::pair(with, without), std::pair(without, with)}) {
    const TemporaryDirectory folder;
    TrainerOptions first = saving, second = resuming;
    first.checkpoint = second.checkpoint = CheckpointOptions{.directory = folder.path(), .background = false};
    averaged_run(2, first);
    second.resume = "";
    std::string text;
    (void)run_training(2, [&](Communicator& group, Arena& arena) {
      auto net = small_net();
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net), second);
      try {
        trainer.fit(std::make_shared<RoughNumbers>(43));
      } catch (const Error& error) {
        if (group.rank() == 0) text = error.text();
      }
    });
    EXPECT_NE(text.find("average"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace cohort::test
