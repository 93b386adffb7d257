#include "small_models.h"
#include "storage/temporary_directory.h"
#include "training_world.h"

#include <cohort/trainer.h>

#include <cmath>
#include <gtest/gtest.h>
#include <mutex>
#include <torch/optim/adagrad.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

namespace cohort::test {
namespace {

using learning_rate::OneCycle;
using learning_rate::Plateau;

constexpr std::int64_t kSamples = 40;  // three steps of 16, the last one shorter
constexpr std::int64_t kEpochs = 8;

/// The loss stops falling soon, and the schedule notices.
TrainerOptions plateau_options(Plateau::Metric metric) {
  return {.optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.5},
          .schedule = {.curve = Plateau{.metric = metric, .factor = 0.5, .patience = 1, .threshold = 0.01}},
          .batch_size = 16,
          .epochs = kEpochs};
}

/// The training of one rank as its callbacks tell it.
struct History {
  std::vector<double> rates{};
  std::vector<double> losses{};  // of steps
  std::vector<double> samples{};
  std::vector<double> evaluations{};
  std::string hash{};
  std::optional<std::int64_t> saved_step{};
};

std::vector<History> histories(int world, const TrainerOptions& options) {
  std::vector<History> all(static_cast<std::size_t>(world));
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    History& mine = all[static_cast<std::size_t>(group.rank())];
    TrainerOptions own = options;
    own.on_step = [&](const StepReport& step) {
      mine.rates.push_back(step.learning_rate);
      mine.losses.push_back(step.loss);
      mine.samples.push_back(static_cast<double>(step.samples));
    };
    own.on_evaluation = [&](const EvaluationReport& seen) { mine.evaluations.push_back(seen.loss); };
    const auto model = small_net();
    Trainer trainer(group, arena, model.ptr(), cross_entropy(model), own);
    const TrainingReport report =
        trainer.fit(std::make_shared<RoughNumbers>(kSamples), std::make_shared<RoughNumbers>(11));
    mine.hash = report.parameters_hash;
    mine.saved_step = report.saved_step;
  });
  EXPECT_WORLD_OK(outcome);
  return all;
}

// The losses that the schedule watched, one for each epoch.
std::vector<double> watched(const History& history, Plateau::Metric metric) {
  if (metric == Plateau::Metric::kEvaluation) return history.evaluations;
  std::vector<double> means;
  for (std::size_t first = 0; first < history.losses.size(); first += 3) {
    double sum = 0, weight = 0;
    for (std::size_t i = first; i < first + 3; ++i) {
      sum += history.losses[i] * history.samples[i];
      weight += history.samples[i];
    }
    means.push_back(sum / weight);
  }
  return means;
}

TEST(Schedules, APlateauLowersTheRateOfAllRanksByTheLossesThatTheySee) {
  for (const auto metric : {Plateau::Metric::kEvaluation, Plateau::Metric::kTraining}) {
    const TrainerOptions options = plateau_options(metric);
    for (const int world : {1, 2, 3}) {
      const std::vector<History> ranks = histories(world, options);
      const History& first = ranks.front();
      for (const History& each : ranks) EXPECT_EQ(each.rates, first.rates);
      ASSERT_EQ(first.rates.size(), 3u * kEpochs);
      PlateauState state;
      const std::vector<double> losses = watched(first, metric);
      for (std::size_t step = 0; step < first.rates.size(); ++step) {
        if (step > 0 && step % 3 == 0) {
          state = after_loss(std::get<Plateau>(options.schedule.curve), state, losses[step / 3 - 1]);
        }
        EXPECT_EQ(first.rates[step], learning_rate_at(options.schedule, 0.5, 0, state)) << step;
      }
      EXPECT_GE(state.reductions, 1) << "the test sees no plateau";
    }
  }
}

// Interrupted after any step: before, between and after the losses that lower the rate, and within an epoch
// whose losses are being added up.
TEST(Schedules, APlateauGoesOnWhereItWasInterrupted) {
  for (const auto metric : {Plateau::Metric::kEvaluation, Plateau::Metric::kTraining}) {
    const TrainerOptions options = plateau_options(metric);
    const History whole = histories(2, options).front();
    for (std::int64_t steps = 1; steps < 3 * kEpochs; steps += 2) {
      TemporaryDirectory folder;
      TrainerOptions first = options;
      first.checkpoint = CheckpointOptions{.directory = folder.path(), .background = false};
      first.steps = steps;
      EXPECT_EQ(histories(2, first).front().saved_step, steps);
      TrainerOptions second = first;
      second.steps.reset();
      second.resume = "";
      const History rest = histories(2, second).front();
      EXPECT_EQ(rest.hash, whole.hash) << "after step " << steps;
      EXPECT_EQ(rest.rates, std::vector<double>(whole.rates.begin() + steps, whole.rates.end())) << steps;
    }
  }
}

std::string refusal(const TrainerOptions& options, int world = 2, bool has_test = false) {
  std::mutex mutex;
  std::string text;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    const auto model = small_net();
    try {
      Trainer trainer(group, arena, model.ptr(), cross_entropy(model), options);
      trainer.fit(std::make_shared<RoughNumbers>(kSamples),
                  has_test ? std::make_shared<RoughNumbers>(3) : nullptr);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      text = error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Schedules, WithoutTheirLossesOrMomentumAreRefused) {
  TrainerOptions options = plateau_options(Plateau::Metric::kEvaluation);
  EXPECT_TRUE(has(refusal(options), "there is no data to evaluate with"));
  options.evaluate_every.reset();
  EXPECT_TRUE(has(refusal(options, 2, true), "TrainerOptions::evaluate_every is not set"));
  options = {.optimizer = {.momentum = 0}, .schedule = {.curve = OneCycle{.total_steps = 9}}};
  EXPECT_TRUE(has(refusal(options), "the optimizer has no momentum"));
  options.schedule.curve = learning_rate::Step{.step_size = 0};
  EXPECT_TRUE(has(refusal(options), "learning_rate::Step::step_size is 0"));
}

TEST(Schedules, MustBeTheSameOnAllRanks) {
  std::mutex mutex;
  std::string text;
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    TrainerOptions options;
    options.schedule.curve = learning_rate::Cosine{.t_max = 10 + group.rank()};
    const auto model = small_net();
    Trainer trainer(group, arena, model.ptr(), cross_entropy(model), options);
    try {
      trainer.fit(std::make_shared<RoughNumbers>(kSamples));
    } catch (const UsageError& error) {
      const std::lock_guard lock(mutex);
      text = error.text();
    }
  });
  EXPECT_WORLD_OK(outcome);
  EXPECT_TRUE(has(text, "TrainerOptions::schedule")) << text;
  EXPECT_TRUE(has(text, "cosine t_max=1")) << text;
}

TEST(Schedules, ScaleWithTheBatch) {
  for (const auto& [rule, factor] :
       {std::pair(BatchScaling::Rule::kLinear, 4.0), std::pair(BatchScaling::Rule::kSquareRoot, 2.0)}) {
    TrainerOptions options{.optimizer = {.learning_rate = 0.25}, .batch_size = 16};
    options.schedule.scale_with_batch = {.rule = rule, .base_batch_size = 4};
    EXPECT_EQ(histories(2, options).front().rates, std::vector<double>(3, 0.25 * factor));
    options.batch_size.reset();  // all 40 samples
    const double all = rule == BatchScaling::Rule::kLinear ? 10 : std::sqrt(10.0);
    EXPECT_EQ(histories(2, options).front().rates, std::vector<double>(1, 0.25 * all));
  }
}

// Momentum and learning rate change in every step; torch's optimizers are set to the same, step by step.
TEST(Schedules, OneCycleGivesAnOptimizerTheMomentumOfEachStep) {
  for (const auto kind : {OptimizerKind::kSgd, OptimizerKind::kAdamW}) {
    const LearningRateSchedule schedule{.curve = OneCycle{.total_steps = 12, .base_momentum = 0.25}};
    const TrainerOptions ours{.optimizer = {.kind = kind, .learning_rate = 0.25},
                              .schedule = schedule,
                              .batch_size = 16,
                              .epochs = 4};
    TrainerOptions theirs = ours;
    theirs.optimizer = {};
    std::vector<float> expected, found, constant;
    const auto train = [&](Communicator& group, Arena& arena, const TrainerOptions& options, bool by_torch) {
      const auto model = small_net();
      std::unique_ptr<torch::optim::Optimizer> optimizer;
      if (kind == OptimizerKind::kSgd) {
        optimizer = std::make_unique<torch::optim::SGD>(model->parameters(),
                                                        torch::optim::SGDOptions(0.25).momentum(0.9));
      } else {
        optimizer = std::make_unique<torch::optim::AdamW>(model->parameters(),
                                                          torch::optim::AdamWOptions(0.25).weight_decay(0));
      }
      Trainer trainer(group, arena, model.ptr(), cross_entropy(model), by_torch ? optimizer.get() : nullptr,
                      options);
      trainer.fit(std::make_shared<RoughNumbers>(kSamples));
      return numbers_of(*model);
    };
    const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
      const auto torch = train(group, arena, theirs, true), own = train(group, arena, ours, false);
      TrainerOptions without = ours;
      std::get<OneCycle>(without.schedule.curve).cycle_momentum = false;
      const auto still = train(group, arena, without, false);
      if (group.rank() != 0) return;
      expected = torch;
      found = own;
      constant = still;
    });
    EXPECT_WORLD_OK(outcome);
    ASSERT_EQ(found.size(), expected.size());
    double apart = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 2e-5) << i;
      apart = std::max<double>(apart, std::abs(found[i] - constant[i]));
    }
    EXPECT_GT(apart, 1e-2) << "momentum that does not change would not be noticed";
  }
}

TEST(Schedules, OneCycleNeedsAnOptimizerOfTorchWithMomentum) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    TrainerOptions options{.batch_size = 16};
    options.schedule.curve = OneCycle{.total_steps = 9};
    const auto model = small_net();
    torch::optim::Adagrad none(model->parameters());
    EXPECT_THROW(Trainer(group, arena, model.ptr(), cross_entropy(model), &none, options), UsageError);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Schedules, OneCycleLeavesAnOptimizerOfTorchAsItWas) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    TrainerOptions options{.batch_size = 16};
    options.schedule.curve = OneCycle{.total_steps = 9};
    const auto model = small_net();
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.25).momentum(0.5));
    Trainer(group, arena, model.ptr(), cross_entropy(model), &optimizer, options)
        .fit(std::make_shared<RoughNumbers>(kSamples));
    const auto& after = static_cast<torch::optim::SGDOptions&>(optimizer.param_groups()[0].options());
    EXPECT_EQ(after.momentum(), 0.5);
    EXPECT_EQ(after.lr(), 0.25);
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
