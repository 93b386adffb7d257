#include "checkpoint/snapshot.h"
#include "checkpoint/snapshot_folder.h"
#include "small_models.h"
#include "storage/folder_lock.h"
#include "storage/local_file_system.h"
#include "storage/temporary_directory.h"
#include "training_world.h"

#include <cohort/dropout.h>
#include <cohort/trainer.h>

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <torch/optim/adamw.h>

namespace cohort::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNumSamples = 40;  // three steps of 16, the last one shorter
constexpr std::int64_t kNumSteps = 6;

// Dropout, running means, clipping, moments: everything that a wrong position or a lost piece would change.
torch::nn::Sequential net() {
  return with_fixed_numbers(torch::nn::Sequential(torch::nn::Linear(6, 17), torch::nn::BatchNorm1d(17),
                                                  cohort::Dropout(0.3), torch::nn::ReLU(),
                                                  torch::nn::Linear(17, 3)));
}

TrainerOptions options(const std::string& folder) {
  return {.optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.01, .weight_decay = 0.01},
          .schedule = {.warmup = {.steps = 4}},
          .clip_grad_norm = 0.1,
          .batch_size = 16,
          .micro_batches = 4,
          .epochs = 2,
          .checkpoint = CheckpointOptions{.directory = folder, .keep_last = 100, .background = false},
          .bucket_bytes = 256};
}

/// Trains as `world` ranks; the report of rank 0.
TrainingReport train(int world, const TrainerOptions& options) {
  TrainingReport report;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    const auto model = net();
    Trainer trainer(group, arena, model.ptr(), cross_entropy(model), options);
    const TrainingReport mine =
        trainer.fit(std::make_shared<RoughNumbers>(kNumSamples), std::make_shared<RoughNumbers>(11));
    if (group.rank() == 0) report = mine;
  });
  EXPECT_WORLD_OK(outcome);
  return report;
}

TrainingReport train_without_interruption(int world, TrainerOptions options) {
  options.checkpoint.reset();
  return train(world, options);
}

TrainingReport train_in_two(int world, int second_world, const TrainerOptions& whole, std::int64_t steps) {
  TrainerOptions first = whole, second = whole;
  first.steps = steps;
  EXPECT_EQ(train(world, first).saved_step, steps);
  second.resume = "";
  const TrainingReport report = train(second_world, second);
  EXPECT_TRUE(report.resumed);
  return report;
}

std::string refusal(int world, const TrainerOptions& options) {
  std::mutex mutex;
  std::string text;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    const auto model = net();
    Trainer trainer(group, arena, model.ptr(), cross_entropy(model), options);
    try {
      trainer.fit(std::make_shared<RoughNumbers>(kNumSamples));
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      if (group.rank() == 0) text = error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
  return text;
}

TEST(Resume, AtAnyStepGivesTheBitsOfARunWithoutInterruption) {
  for (const int world : {1, 2, 3}) {
    const TrainingReport expected = train_without_interruption(world, options(""));
    for (std::int64_t steps = 1; steps < kNumSteps; ++steps) {
      TemporaryDirectory folder;
      const TrainingReport report = train_in_two(world, world, options(folder.path()), steps);
      EXPECT_EQ(report.parameters_hash, expected.parameters_hash) << world << " ranks, step " << steps;
      EXPECT_EQ(report.steps, expected.steps);
      EXPECT_EQ(report.last->loss, expected.last->loss);
      EXPECT_EQ(report.best->loss, expected.best->loss);
    }
  }
}

TEST(Resume, OnAnyWorldGivesTheSameBits) {
  TrainerOptions any_world = options("");
  any_world.deterministic = Deterministic::kAnyWorld;
  const std::string expected = train_without_interruption(1, any_world).parameters_hash;
  for (const auto& [from, to] : {std::pair(2, 4), std::pair(4, 1), std::pair(1, 2)}) {
    TemporaryDirectory folder;
    any_world.checkpoint->directory = folder.path();
    EXPECT_EQ(train_in_two(from, to, any_world, 2).parameters_hash, expected) << from << " → " << to;
  }
}

/// Trains two branches, and returns the order of parameters in the newest snapshot. Gradients of the branch
/// that is computed last arrive first.
std::vector<std::int64_t> order_after_training(bool is_second_first, const TrainerOptions& options) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    torch::nn::ModuleList branches(torch::nn::Linear(6, 3), torch::nn::Linear(6, 3));
    const auto branch = [=](std::size_t i, const Batch& batch) {
      return branches->ptr<torch::nn::LinearImpl>(i)->forward(batch.input);
    };
    const Objective objective = mean_loss([=](const Batch& batch) {
      const at::Tensor first = branch(is_second_first ? 1 : 0, batch);
      return (first + branch(is_second_first ? 0 : 1, batch)).square().mean();
    });
    Trainer(group, arena, branches.ptr(), objective, options)
        .fit(std::make_shared<RoughNumbers>(kNumSamples));
  });
  EXPECT_WORLD_OK(outcome);
  LocalFileSystem files;
  const std::string& folder = options.checkpoint->directory;
  const auto names = value_or_throw(checkpoint::list_snapshots(files, folder));
  return value_or_throw(checkpoint::Snapshot::open(files, folder, names.back()))
      ->manifest()
      .course.bucket_order;
}

// With the order of the first run, sums have the same bits as without the interruption.
TEST(Resume, KeepsTheOrderOfBuckets) {
  TemporaryDirectory one, other;
  TrainerOptions first = options(one.path()), otherwise = options(other.path());
  first.steps = otherwise.steps = 2;
  first.bucket_bytes = otherwise.bucket_bytes = 64;
  const auto order = order_after_training(false, first);
  EXPECT_NE(order_after_training(true, otherwise), order);
  first.steps = 4;
  first.resume = "";
  EXPECT_EQ(order_after_training(true, first), order);
}

/// A network of convolutions whose weights are in channels_last, or not.
torch::nn::Sequential convolutions(at::MemoryFormat format) {
  auto net = with_fixed_numbers(
      torch::nn::Sequential(torch::nn::Unflatten(torch::nn::UnflattenOptions(1, {2, 1, 3})),
                            torch::nn::Conv2d(torch::nn::Conv2dOptions(2, 37, {3, 3}).padding({1, 1})),
                            torch::nn::ReLU(), torch::nn::Conv2d(torch::nn::Conv2dOptions(37, 3, {1, 3}))));
  for (at::Tensor& parameter : net->parameters()) {
    const torch::NoGradGuard no_grad;
    if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(format));
  }
  net->push_back(torch::nn::Flatten());
  return net;
}

/// The report of rank 0; `weights` are the parameters at the end.
TrainingReport train_convolutions(int world, at::MemoryFormat format, const TrainerOptions& options,
                                  std::vector<at::Tensor>& weights) {
  TrainingReport report;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    const auto model = convolutions(format);
    Trainer trainer(group, arena, model.ptr(), cross_entropy(model), options);
    const TrainingReport mine = trainer.fit(std::make_shared<RoughNumbers>(kNumSamples));
    if (group.rank() != 0) return;
    report = mine;
    weights.clear();
    for (const at::Tensor& each : model->parameters()) weights.push_back(each.detach().clone());
  });
  EXPECT_WORLD_OK(outcome);
  return report;
}

TEST(Resume, OfAModelInChannelsLast) {
  const auto format = at::MemoryFormat::ChannelsLast;
  std::vector<at::Tensor> expected, found;
  for (const int world : {1, 3}) {
    TrainerOptions whole = options("");
    whole.checkpoint.reset();
    const std::string hash = train_convolutions(world, format, whole, expected).parameters_hash;
    TemporaryDirectory folder;
    TrainerOptions first = options(folder.path());
    first.steps = 2;
    train_convolutions(world, format, first, expected);
    TrainerOptions second = options(folder.path());
    second.resume = "";
    TrainerOptions contiguous = second;
    contiguous.steps = 2;
    train_convolutions(2, at::MemoryFormat::Contiguous, contiguous, found);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].equal(expected[i])) << i;
    EXPECT_EQ(train_convolutions(world, format, second, found).parameters_hash, hash) << world;
  }
}

TEST(Resume, FromDifferencesAndCompressedTensors) {
  const std::string expected = train_without_interruption(2, options("")).parameters_hash;
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  whole.checkpoint->every_steps = 1;
  whole.checkpoint->full_every = 3;
  whole.checkpoint->compress = true;
  EXPECT_EQ(train_in_two(2, 2, whole, 5).parameters_hash, expected);
}

TEST(Resume, InTheBackgroundWritesTheSame) {
  const std::string expected = train_without_interruption(2, options("")).parameters_hash;
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  whole.checkpoint->background = true;
  whole.checkpoint->every_steps = 2;
  EXPECT_EQ(train_in_two(2, 2, whole, 4).parameters_hash, expected);
}

void damage(const fs::path& snapshot) {
  for (const auto& entry : fs::directory_iterator(snapshot)) {
    if (!entry.path().filename().string().starts_with("training")) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x5a');
  }
}

TEST(Resume, ADamagedSnapshotIsPassedOverAndSetAside) {
  const std::string expected = train_without_interruption(2, options("")).parameters_hash;
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  whole.checkpoint->every_steps = 1;
  whole.steps = 4;
  train(2, whole);
  damage(fs::path(folder.path()) / "step-000000000004");
  whole.steps.reset();
  whole.resume = "";
  const TrainingReport report = train(2, whole);
  EXPECT_EQ(report.parameters_hash, expected);
  ASSERT_TRUE(report.resumed);
  EXPECT_EQ(report.resumed->step, 3);
  ASSERT_EQ(report.resumed->passed_over.size(), 1u);
  EXPECT_EQ(report.resumed->passed_over.front().code(), ErrorCode::kCorrupt);
  EXPECT_TRUE(fs::exists(fs::path(folder.path()) / "set-aside-1" / "step-000000000004"));
}

TEST(Resume, ANamedSnapshotIsTakenAndLaterOnesAreSetAside) {
  const std::string expected = train_without_interruption(2, options("")).parameters_hash;
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  whole.checkpoint->every_steps = 1;
  whole.steps = 4;
  train(2, whole);
  whole.steps.reset();
  whole.resume = std::string(folder.path()) + "/step-000000000002";
  EXPECT_EQ(train(2, whole).parameters_hash, expected);
  EXPECT_TRUE(fs::exists(fs::path(folder.path()) / "set-aside-1" / "step-000000000003"));
  EXPECT_TRUE(fs::exists(fs::path(folder.path()) / "step-000000000006"));
}

TEST(Resume, ModelsOfStepsThatWereNotTakenAreMovedAway) {
  TemporaryDirectory folder;
  TrainerOptions whole = options("");
  whole.directory = std::string(folder.path()) + "/run";
  whole.checkpoint->every_steps = 1;
  train(2, whole);
  whole.resume = whole.directory;
  train(2, whole);
  EXPECT_FALSE(fs::exists(whole.directory + "/earlier-1"));
  whole.resume = whole.directory + "/checkpoints/step-000000000002";
  train(2, whole);
  EXPECT_TRUE(fs::exists(whole.directory + "/earlier-1/best.safetensors"));
  EXPECT_TRUE(fs::exists(whole.directory + "/earlier-1/last.safetensors"));
  EXPECT_FALSE(fs::exists(whole.directory + "/earlier-2"));
}

TEST(Resume, WithoutASnapshotBeginsAnew) {
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  whole.resume = "";
  const TrainingReport report = train(2, whole);
  EXPECT_FALSE(report.resumed);
  EXPECT_EQ(report.parameters_hash, train_without_interruption(2, options("")).parameters_hash);
}

// The folder of the snapshots has many names; however it is written, its snapshots stay.
TEST(Resume, ByAnotherNameOfTheFolderSetsNothingAside) {
  TemporaryDirectory folder;
  fs::create_directory_symlink(folder.path(), folder.path() + "/link");
  TrainerOptions whole = options(folder.path() + "/");
  whole.steps = 2;
  train(2, whole);
  whole.steps = 4;
  for (const char* const name : {"", "/.", "/link", "//"}) {
    whole.resume = folder.path() + name;
    EXPECT_EQ(train(2, whole).steps, 4) << name;
    EXPECT_TRUE(fs::exists(folder.path() + "/step-000000000002")) << name;
  }
}

TEST(Resume, APathWithoutASnapshotIsAnError) {
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  whole.resume = folder.path() + "/elsewhere";
  EXPECT_NE(refusal(2, whole).find("there is no snapshot in"), std::string::npos);
}

TEST(Resume, TheFolderOfARunIsThatOfItsSnapshots) {
  TemporaryDirectory folder;
  TrainerOptions whole = options("");
  whole.directory = folder.path();
  whole.steps = 2;
  train(2, whole);
  whole.steps = 4;
  whole.resume = folder.path();
  EXPECT_EQ(train(2, whole).resumed->step, 2);
}

// The snapshot at the end of an epoch has the loss of the model that it holds, and is at the end of the
// epoch.
TEST(Resume, ASnapshotAtTheEndOfAnEpochComesAfterItsEvaluation) {
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  whole.checkpoint->every_steps = 3;
  std::vector<double> losses;
  whole.on_evaluation = [&](const EvaluationReport& seen) { losses.push_back(seen.loss); };
  train(1, whole);
  LocalFileSystem files;
  for (const std::size_t epoch : {1u, 2u}) {
    const auto manifest = value_or_throw(
        checkpoint::read_manifest(files, fs::path(folder.path()) / fmt::format("step-{:012}", 3 * epoch)));
    EXPECT_EQ(manifest.course.position.step_in_epoch, 0);
    EXPECT_EQ(manifest.course.position.epoch, static_cast<std::int64_t>(epoch));
    EXPECT_EQ(manifest.course.loss, losses.at(epoch - 1));
  }
}

TEST(Resume, AnEvaluationThatWasInterruptedIsMadeAgain) {
  TemporaryDirectory folder;
  const TrainingReport expected = train_without_interruption(1, options(""));
  TrainerOptions whole = options(folder.path());
  int num_asked = 0;
  whole.wants_to_stop = [&] { return ++num_asked == 4; };  // after three steps: in the evaluation
  EXPECT_EQ(train(1, whole).end, TrainingEnd::kStopped);
  whole.wants_to_stop = {};
  whole.resume = "";
  std::vector<std::int64_t> epochs;
  whole.on_evaluation = [&](const EvaluationReport& seen) { epochs.push_back(seen.epoch); };
  EXPECT_EQ(train(1, whole).parameters_hash, expected.parameters_hash);
  EXPECT_EQ(epochs, (std::vector<std::int64_t>{1, 2}));
}

TEST(Resume, ATrainingThatHasLostItsPatienceStaysAtItsEnd) {
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  whole.optimizer.learning_rate = 0;
  whole.patience = 1;
  whole.epochs = 9;
  const TrainingReport first = train(2, whole);
  EXPECT_EQ(first.end, TrainingEnd::kPatience);
  whole.resume = "";
  const TrainingReport second = train(2, whole);
  EXPECT_EQ(second.steps, first.steps);
  EXPECT_EQ(second.end, TrainingEnd::kPatience);
}

TEST(Resume, WithoutSnapshotsOfItsOwnSetsNewerOnesAside) {
  TemporaryDirectory folder;
  TrainerOptions whole = options("");
  whole.directory = folder.path();
  whole.checkpoint->every_steps = 1;
  whole.steps = 4;
  train(2, whole);
  whole.checkpoint.reset();
  whole.resume = folder.path() + "/checkpoints/step-000000000002";
  train(2, whole);
  EXPECT_FALSE(fs::exists(folder.path() + "/checkpoints/step-000000000003"));
  EXPECT_TRUE(fs::exists(folder.path() + "/checkpoints/step-000000000002"));
}

TEST(Resume, ADifferenceThatWasSetAsideFindsItsBase) {
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  whole.checkpoint->every_steps = 1;
  whole.checkpoint->full_every = 5;
  whole.steps = 4;
  train(2, whole);
  whole.resume = folder.path() + "/step-000000000002";
  whole.steps = 3;
  train(2, whole);
  whole.resume = folder.path() + "/set-aside-1/step-000000000004";
  whole.steps = 5;
  EXPECT_EQ(train(2, whole).resumed->step, 4);
}

// Each training of a trainer has snapshots of its own.
TEST(Checkpoints, ASecondFitWritesItsOwn) {
  TemporaryDirectory folder;
  TrainerOptions whole = options("");
  whole.directory = folder.path();
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    const auto model = net();
    Trainer trainer(group, arena, model.ptr(), cross_entropy(model), whole);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(trainer.fit(std::make_shared<RoughNumbers>(kNumSamples)).saved_step, kNumSteps);
    }
  });
  EXPECT_WORLD_OK(outcome);
  EXPECT_TRUE(fs::exists(folder.path() + "/checkpoints/step-000000000006"));
  EXPECT_TRUE(fs::exists(folder.path() + "/earlier-1/checkpoints/step-000000000006"));
}

TEST(Checkpoints, AFolderServesOneTrainingAtATime) {
  TemporaryDirectory folder;
  const TrainerOptions whole = options(folder.path());
  const FolderLock other = value_or_throw(FolderLock::take(folder.path()));
  EXPECT_NE(refusal(2, whole).find("another job is writing to it"), std::string::npos);
}

TEST(Resume, SettingsThatWouldChangeTheRestOfAnEpochAreRefused) {
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  whole.steps = 2;
  train(2, whole);
  whole.steps.reset();
  whole.resume = "";
  TrainerOptions other = whole;
  other.batch_size = 8;
  EXPECT_NE(refusal(2, other).find("TrainerOptions::batch_size = 16, and now TrainerOptions::batch_size = 8"),
            std::string::npos);
  other = whole;
  other.seed = 5;
  EXPECT_NE(refusal(2, other).find("TrainerOptions::seed"), std::string::npos);
  other = whole;
  other.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.1, .momentum = 0.9};
  EXPECT_NE(refusal(2, other).find("exp_avg"), std::string::npos);
}

TEST(Resume, AnOptimizerOfTorchGoesOnToo) {
  const auto train_with_torch = [](TrainerOptions options) {
    options.optimizer = {};
    std::string hash;
    const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
      const auto model = net();
      torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(0.01));
      Trainer trainer(group, arena, model.ptr(), cross_entropy(model), &optimizer, options);
      const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(kNumSamples));
      if (group.rank() == 0) hash = report.parameters_hash;
    });
    EXPECT_WORLD_OK(outcome);
    return hash;
  };
  TemporaryDirectory folder;
  TrainerOptions whole = options(folder.path());
  TrainerOptions plain = whole;
  plain.checkpoint.reset();
  const std::string expected = train_with_torch(plain);
  TrainerOptions first = whole;
  first.steps = 4;
  train_with_torch(first);
  whole.resume = "";
  EXPECT_EQ(train_with_torch(whole), expected);
}

// The disk is full, or the folder is gone: training goes on, and says so.
TEST(Checkpoints, ASnapshotThatCannotBeWrittenDoesNotEndTraining) {
  TemporaryDirectory folder;
  TrainerOptions whole = options(std::string(folder.path()) + "/snapshots");
  whole.checkpoint->every_steps = 2;
  std::mutex mutex;
  int num_failures = 0;
  whole.on_step = [&](const StepReport& step) {
    const std::lock_guard lock(mutex);
    if (step.step != 1 || fs::is_symlink(folder.path() + std::string("/snapshots"))) return;
    fs::remove_all(folder.path() + std::string("/snapshots"));
    fs::create_symlink("/proc/nothing", folder.path() + std::string("/snapshots"));
  };
  whole.on_checkpoint = [&](const CheckpointReport& report) {
    const std::lock_guard lock(mutex);
    if (report.failure) ++num_failures;
  };
  const TrainingReport report = train(2, whole);
  EXPECT_EQ(report.steps, kNumSteps);
  EXPECT_FALSE(report.saved_step);
  EXPECT_EQ(num_failures, 2 * 4);  // on both ranks: steps 2, 4 and 6, and at the end
  EXPECT_EQ(report.parameters_hash, train_without_interruption(2, options("")).parameters_hash);
}

}  // namespace
}  // namespace cohort::test
