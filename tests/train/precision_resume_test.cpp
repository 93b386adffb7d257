// A training that is interrupted in the middle of a dynamic scale, or between bf16 parameters and their
// masters.

#include "small_models.h"
#include "storage/temporary_directory.h"
#include "training_world.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

struct ResumedRun {
  TrainingReport report{};
  std::vector<double> scales{};
};

// Gradients overflow at scales above 2^100 times a number that differs by the batch.
ResumedRun run_as(int world, const TrainerOptions& given) {
  ResumedRun run;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    auto net = with_fixed_numbers(torch::nn::Sequential(torch::nn::Linear(6, 17), torch::nn::BatchNorm1d(17),
                                                        torch::nn::ReLU(), torch::nn::Linear(17, 3)));
    TrainerOptions options = given;
    if (group.rank() == 0) {
      options.on_step = [&](const StepReport& step) { run.scales.push_back(step.loss_scale.value_or(0)); };
    }
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    const TrainingReport report =
        trainer.fit(std::make_shared<RoughNumbers>(48), std::make_shared<RoughNumbers>(11));
    if (group.rank() == 0) run.report = report;
  });
  EXPECT_WORLD_OK(outcome);
  return run;
}

TrainerOptions saving_options(const std::string& folder) {
  TrainerOptions options{
      .optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.01, .weight_decay = 0.01},
      .batch_size = 8,
      .micro_batches = 4,
      .epochs = 2,
      .checkpoint = CheckpointOptions{.directory = folder, .keep_last = 100, .background = false},
      .bucket_bytes = 256};
  options.precision = {.compute = ComputeType::kBF16,
                       .loss_scaling = LossScaling::kDynamic,
                       .loss_scale = {.init_scale = 0x1p127,
                                      .growth_factor = 2,
                                      .backoff_factor = 0x1p-2,
                                      .growth_interval = 2,
                                      .hysteresis = 2}};
  return options;
}

void expect_same_after_interruption(const Precision& precision, Deterministic deterministic,
                                    std::pair<int, int> worlds) {
  const TemporaryDirectory folder;
  TrainerOptions options = saving_options(folder.path());
  options.precision = precision;
  options.deterministic = deterministic;
  TrainerOptions alone = options;
  alone.checkpoint.reset();
  const ResumedRun whole = run_as(worlds.first, alone);
  for (const std::int64_t steps : {1, 4, 7}) {
    const TemporaryDirectory own;
    TrainerOptions first = options, second = options;
    first.checkpoint->directory = second.checkpoint->directory = own.path();
    first.steps = steps;
    const ResumedRun before = run_as(worlds.first, first);
    second.resume = "";
    const ResumedRun after = run_as(worlds.second, second);
    EXPECT_TRUE(after.report.resumed);
    EXPECT_EQ(after.report.parameters_hash, whole.report.parameters_hash) << steps;
    EXPECT_EQ(after.report.skipped_steps, whole.report.skipped_steps) << steps;
    std::vector<double> scales = before.scales;
    scales.insert(scales.end(), after.scales.begin(), after.scales.end());
    EXPECT_EQ(scales, whole.scales) << steps;
  }
}

TEST(PrecisionResume, ADynamicScaleGoesOn) {
  const TrainerOptions options = saving_options("");
  expect_same_after_interruption(options.precision, Deterministic::kWorld, {2, 2});
  const TemporaryDirectory folder;
  TrainerOptions alone = options;
  alone.checkpoint.reset();
  const ResumedRun whole = run_as(2, alone);
  EXPECT_GE(whole.report.skipped_steps, 2);  // or nothing was tested
  EXPECT_LT(whole.report.skipped_steps, whole.report.steps);
}

TEST(PrecisionResume, MastersGoOn) {
  const Precision narrow{.compute = ComputeType::kBF16, .parameters = DType::kBF16};
  expect_same_after_interruption(narrow, Deterministic::kWorld, {2, 2});
  expect_same_after_interruption(narrow, Deterministic::kAnyWorld, {4, 2});
  expect_same_after_interruption(narrow, Deterministic::kAnyWorld, {1, 4});
}

}  // namespace
}  // namespace cohort::test
