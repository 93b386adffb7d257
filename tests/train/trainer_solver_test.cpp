#include "small_models.h"
#include "solver_problems.h"
#include "storage/temporary_directory.h"
#include "training_world.h"

#include <cohort/dropout.h>
#include <cohort/trainer.h>

#include <gtest/gtest.h>

// `cohort::Trainer` with a solver.

namespace cohort::test {
namespace {

constexpr std::int64_t kNumSamples = 41;

TrainerOptions solver_options(SolverKind kind, std::int64_t steps) {
  return {.solver =
              SolverSettings{.kind = kind, .tolerance_grad = 0, .tolerance_change = 0, .weight_decay = 1e-3},
          .batch_size = 7,  // samples that are computed at a time
          .epochs = steps};
}

struct Trained {
  TrainingReport report{};
  std::vector<float> parameters{};
};

using MakeNet = std::function<torch::nn::Sequential()>;

Trained train_by_solver(int world, const TrainerOptions& options, const MakeNet& make = small_net) {
  Trained trained;
  EXPECT_WORLD_OK(run_training(world, [&](Communicator& group, Arena& arena) {
    at::set_num_threads(
        1);  // the first product of a new thread has as many threads as there are cores otherwise
    auto net = make();
    const auto output = [net](const Batch& batch) mutable { return net->forward(batch.input); };
    const auto loss = [](const at::Tensor& scores, const Batch& batch) {
      return Evaluation{.loss = at::cross_entropy_loss(scores, batch.target, {}, at::Reduction::Sum),
                        .weight = static_cast<double>(batch.samples.size())};
    };
    Trainer trainer(group, arena, net.ptr(), output, loss, options);
    const TrainingReport report =
        trainer.fit(std::make_shared<RoughNumbers>(kNumSamples), std::make_shared<RoughNumbers>(9));
    if (group.rank() == world - 1) trained = {report, numbers_of(*net)};
  }));
  return trained;
}

void expect_close(const std::vector<float>& found, const std::vector<float>& expected, float tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

TEST(TrainerWithSolver, LowersTheLossAlikeOnAnyNumberOfRanks) {
  for (const SolverKind kind : {SolverKind::kLbfgs, SolverKind::kOwlqn, SolverKind::kGaussNewton}) {
    const Trained one = train_by_solver(1, solver_options(kind, 5));
    const Trained begin = train_by_solver(1, solver_options(kind, 1));
    EXPECT_EQ(one.report.steps, 5);
    EXPECT_EQ(one.report.epochs, 5);
    EXPECT_EQ(one.report.end, TrainingEnd::kDone);
    EXPECT_EQ(one.report.solver->iterations, 5);
    EXPECT_LT(one.report.loss, begin.report.loss * 0.95) << name(kind);
    // Many products in f32 make much of rounding errors.
    const bool is_rough = kind == SolverKind::kGaussNewton;
    for (const int world : {2, 3}) {
      const Trained several = train_by_solver(world, solver_options(kind, 5));
      expect_close(several.parameters, one.parameters, is_rough ? 2e-2F : 2e-3F);
      EXPECT_NEAR(several.report.loss, one.report.loss, is_rough ? 2e-3 : 1e-4);
    }
  }
}

// The batch size and the micro-batches say how much is computed at a time, not what a step is.
TEST(TrainerWithSolver, AStepTakesAllSamples) {
  TrainerOptions options = solver_options(SolverKind::kLbfgs, 3);
  std::vector<std::int64_t> samples;
  options.on_step = [&](const StepReport& step) { samples.push_back(step.samples); };
  const Trained small = train_by_solver(1, options);
  ASSERT_EQ(samples.size(), 3U);
  for (const std::int64_t each : samples) EXPECT_EQ(each % kNumSamples, 0);
  options.batch_size = std::nullopt;
  options.micro_batches = 2;
  expect_close(train_by_solver(1, options).parameters, small.parameters, 1e-4F);
}

TEST(TrainerWithSolver, EndsWhenTheSolverHasEnded) {
  TrainerOptions options = solver_options(SolverKind::kLbfgs, 500);
  options.solver->weight_decay = 1;
  options.solver->tolerance_grad = 1e-4;
  const Trained found = train_by_solver(2, options);
  EXPECT_EQ(found.report.end, TrainingEnd::kSolved);
  EXPECT_EQ(found.report.solver->end, SolverEnd::kGradient);
  EXPECT_LT(found.report.steps, 100);
  EXPECT_EQ(found.report.last->step, found.report.steps) << "the result is evaluated";
}

TEST(TrainerWithSolver, SeveralIterationsMakeAStep) {
  TrainerOptions options = solver_options(SolverKind::kLbfgs, 2);
  options.solver->max_iterations = 3;
  const Trained found = train_by_solver(2, options);
  EXPECT_EQ(found.report.steps, 2);
  EXPECT_EQ(found.report.solver->iterations, 6);
  expect_close(found.parameters, train_by_solver(2, solver_options(SolverKind::kLbfgs, 6)).parameters, 0);
}

torch::nn::Sequential net_with_dropout_and_norm() {
  return with_fixed_numbers(torch::nn::Sequential(torch::nn::Linear(6, 17), torch::nn::BatchNorm1d(17),
                                                  cohort::Dropout(0.3), torch::nn::ReLU(),
                                                  torch::nn::Linear(17, 3)));
}

// Dropout drops the same in every evaluation, and running means are part of the state.
TEST(TrainerWithSolver, GoesOnBitByBitAfterAnInterruption) {
  for (const SolverKind kind : {SolverKind::kLbfgs, SolverKind::kGaussNewton}) {
    const TemporaryDirectory folder;
    TrainerOptions whole = solver_options(kind, 6);
    whole.batch_size = 14;
    whole.micro_batches = 2;
    whole.groups = {{.patterns = {"*.bias"}, .weight_decay = 0.0}};
    const Trained uninterrupted = train_by_solver(2, whole, net_with_dropout_and_norm);
    whole.checkpoint = CheckpointOptions{.directory = folder.path(), .background = false};
    TrainerOptions first = whole;
    first.steps = 4;
    EXPECT_EQ(train_by_solver(2, first, net_with_dropout_and_norm).report.saved_step, 4);
    whole.resume = "";
    const Trained resumed = train_by_solver(2, whole, net_with_dropout_and_norm);
    EXPECT_TRUE(resumed.report.resumed);
    EXPECT_EQ(resumed.report.parameters_hash, uninterrupted.report.parameters_hash) << name(kind);
    EXPECT_EQ(resumed.report.solver->evaluations, uninterrupted.report.solver->evaluations);
  }
}

TEST(TrainerWithSolver, GoesOnOnAnotherNumberOfRanks) {
  const TemporaryDirectory folder;
  TrainerOptions whole = solver_options(SolverKind::kLbfgs, 6);
  const Trained uninterrupted = train_by_solver(2, whole);
  whole.checkpoint = CheckpointOptions{.directory = folder.path(), .background = false};
  TrainerOptions first = whole;
  first.steps = 4;
  train_by_solver(2, first);
  whole.resume = "";
  const Trained resumed = train_by_solver(3, whole);
  EXPECT_EQ(resumed.report.solver->iterations, 6);
  expect_close(resumed.parameters, uninterrupted.parameters, 2e-3F);
}

TEST(TrainerWithSolver, StopsBetweenIterations) {
  TrainerOptions options = solver_options(SolverKind::kLbfgs, 10);
  options.wants_to_stop = [calls = 0]() mutable { return ++calls > 4; };
  const Trained found = train_by_solver(1, options);
  EXPECT_EQ(found.report.end, TrainingEnd::kStopped);
  EXPECT_LT(found.report.steps, 10);
}

TEST(TrainerWithSolver, AFailureOfOneRankEndsAll) {
  std::vector<std::optional<ErrorCode>> codes(3);
  EXPECT_WORLD_OK(run_training(3, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    int calls = 0;
    const Objective inner = cross_entropy(net);
    const Objective sometimes = [&](const Batch& batch) {
      if (group.rank() == 2 && ++calls == 8) throw Error(ErrorCode::kIo, "the disk is gone");
      return inner(batch);
    };
    try {
      Trainer trainer(group, arena, net.ptr(), sometimes, solver_options(SolverKind::kLbfgs, 9));
      trainer.fit(std::make_shared<RoughNumbers>(kNumSamples));
    } catch (const Error& error) {
      codes[static_cast<std::size_t>(group.rank())] = error.code();
    }
  }));
  using CodesOfRanks = std::vector<std::optional<ErrorCode>>;
  EXPECT_EQ(codes, (CodesOfRanks{ErrorCode::kAborted, ErrorCode::kAborted, ErrorCode::kIo}));
}

TEST(TrainerWithSolver, RefusesWhatHasNoEffect) {
  const auto text_of = [](const TrainerOptions& options) {
    std::string text;
    EXPECT_WORLD_OK(run_training(1, [&](Communicator& group, Arena& arena) {
      auto net = small_net();
      try {
        const Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
      } catch (const UsageError& error) {
        text = error.text();
      }
    }));
    return text;
  };
  EXPECT_EQ(text_of(solver_options(SolverKind::kLbfgs, 1)), "");
  const auto refused = [&](const std::function<void(TrainerOptions&)>& change) {
    TrainerOptions options = solver_options(SolverKind::kLbfgs, 1);
    change(options);
    return text_of(options);
  };
  using Has = std::string;
  const auto expect_has = [](const std::string& text, const Has& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect_has(refused([](auto& o) { o.clip_grad_norm = 1; }), "TrainerOptions::clip_grad_norm");
  expect_has(refused([](auto& o) { o.optimizer.momentum = 0.5; }), "TrainerOptions::optimizer");
  expect_has(refused([](auto& o) { o.schedule.warmup.steps = 3; }), "TrainerOptions::schedule");
  expect_has(refused([](auto& o) { o.precision.compute = ComputeType::kBF16; }), "precision.compute");
  expect_has(refused([](auto& o) { o.groups = {{.patterns = {"*"}, .learning_rate_factor = 0.5}}; }),
             "TrainerOptions::groups");
  expect_has(refused([](auto& o) { o.solver->kind = SolverKind::kGaussNewton; }), "requires the output");
  expect_has(refused([](auto& o) { o.solver->max_products = 3; }), "lbfgs has no use for it");
}

}  // namespace
}  // namespace cohort::test
