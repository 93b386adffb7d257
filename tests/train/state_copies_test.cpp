#include <cohort/state_copies.h>

#include "launch/variables.h"
#include "small_models.h"
#include "storage/temporary_directory.h"
#include "training_world.h"
#include "world/membership.h"

#include <exception>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <optional>

// Ranks leave in the middle of training; the others go on from the copies in memory.

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using world::Membership;

constexpr std::int64_t kSamples = 100, kTestSamples = 20;  // four steps are an epoch

// The end of a rank that leaves.
struct Left : std::exception {};

// Layers that are used in another order than they were registered in: after the first step the trainer moves
// values and moments to other buckets.
struct Crossed : torch::nn::Module {
  Crossed() {
    const torch::nn::Sequential net = small_net();
    last = register_module("last", net->ptr<torch::nn::LinearImpl>(2));
    first = register_module("first", net->ptr<torch::nn::LinearImpl>(0));
  }
  at::Tensor forward(const at::Tensor& input) { return last->forward(first->forward(input).tanh()); }
  torch::nn::Linear last{nullptr}, first{nullptr};
};

TrainerOptions options_with(StateCopies* copies) {
  return {.optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.05, .weight_decay = 0.01},
          .schedule = {.curve = learning_rate::Cosine{.t_max = 20}},
          .clip_grad_norm = 0.5,
          .batch_size = 32,
          .micro_batches = 4,
          .epochs = 5,
          .deterministic = Deterministic::kAnyWorld,
          .copies = copies,
          .bucket_bytes = 64};
}

struct Fitted {
  std::vector<float> parameters;
  TrainingReport report{};
  std::string refusal{};
};

Fitted fitted(Communicator& group, Arena& arena, const TrainerOptions& options) {
  auto net = std::make_shared<Crossed>();
  Trainer trainer(group, arena, net, cross_entropy(net), options);
  const TrainingReport report =
      trainer.fit(std::make_shared<RoughNumbers>(kSamples), std::make_shared<RoughNumbers>(kTestSamples));
  return {.parameters = numbers_of(*net), .report = report};
}

Fitted undisturbed() {
  Fitted result;
  const auto outcome = run_training(
      1, [&](Communicator& group, Arena& arena) { result = fitted(group, arena, options_with(nullptr)); });
  EXPECT_WORLD_OK(outcome);
  return result;
}

void expect_same(const Fitted& found, const Fitted& expected) {
  EXPECT_EQ(found.parameters, expected.parameters);
  EXPECT_EQ(found.report.parameters_hash, expected.report.parameters_hash);
  EXPECT_EQ(found.report.steps, expected.report.steps);
  ASSERT_TRUE(found.report.best);
  EXPECT_EQ(found.report.best->step, expected.report.best->step);
  EXPECT_EQ(found.report.best->loss, expected.report.best->loss);
}

// A rank of a job: the last half of the ranks leaves when `step` steps are done, by an exception; the others
// form the next generation and train on.
struct Leaving {
  int world = 4;
  std::int64_t step = 6;
  std::function<void(TrainerOptions&)> change = [](TrainerOptions&) {};
  std::function<void(TrainerOptions&)> change_after = [](TrainerOptions&) {};
};

LaunchFacts launch_facts(const RankContext& rank, const std::string& name) {
  return {.launcher = Launcher::kCohort,
          .rank = rank.rank(),
          .world = rank.size(),
          .local_rank = rank.rank(),
          .local_size = rank.size(),
          .rendezvous = {.unix_name = name}};
}

// True if this rank leaves.
bool train_until_ranks_leave(Communicator& group, Arena& arena, StateCopies& copies, const Leaving& leaving) {
  TrainerOptions options = options_with(&copies);
  leaving.change(options);
  options.on_step = [&](const StepReport& seen) {
    if (seen.step == leaving.step && group.rank() >= leaving.world / 2) throw Left();
  };
  try {
    (void)fitted(group, arena, options);
  } catch (const Left&) {
    return true;
  } catch (const Error& error) {
    EXPECT_NE(error.root().code(), ErrorCode::kTimedOut) << error.text();  // it was told, also in keep()
    return false;
  }
  throw Error(ErrorCode::kBug, "no rank has left");
}

Status left_to_train(RankContext& rank, const std::string& name, const Leaving& leaving, Fitted& result) {
  COHORT_ASSIGN_OR_RETURN(auto arena, Arena::create(std::size_t{256} << 20));
  COHORT_ASSIGN_OR_RETURN(auto membership, Membership::join(launch_facts(rank, name), *arena,
                                                            {.limit = 15s, .meeting_limit = 15s}));
  auto group = membership->take_groups().own;
  std::optional<StateCopies> copies(std::in_place, *arena);
  const bool leaves = train_until_ranks_leave(*group, *arena, *copies, leaving);
  COHORT_RETURN_IF_ERROR(rank.barrier());  // all have been told before the first one is gone
  if (leaves) {
    group.reset();
    copies.reset();
    membership.reset();
    arena.reset();
    COHORT_RETURN_IF_ERROR(rank.barrier());
    return rank.barrier();
  }
  COHORT_RETURN_IF_ERROR(rank.barrier());
  COHORT_ASSIGN_OR_RETURN(const auto survivors, membership->survivors());
  COHORT_RETURN_IF_ERROR(membership->form(survivors));
  group = membership->take_groups().own;
  TrainerOptions options = options_with(&*copies);
  leaving.change(options);
  leaving.change_after(options);
  try {
    result = fitted(*group, *arena, options);
  } catch (const UsageError& error) {
    result.refusal = error.text();
  }
  copies->give_back();
  return rank.barrier();
}

std::vector<Fitted> fitted_by_those_left(const Leaving& leaving) {
  at::set_num_threads(1);
  const std::string name = value_or_throw(launch::fresh_unix_name());
  std::vector<Fitted> results(static_cast<std::size_t>(leaving.world));
  const auto outcome =
      run_world(leaving.world,
                [&](RankContext& rank) {
                  return left_to_train(rank, name, leaving, results[static_cast<std::size_t>(rank.rank())]);
                },
                {.deadline = 50s});
  EXPECT_WORLD_OK(outcome);
  results.resize(static_cast<std::size_t>(leaving.world / 2));
  return results;
}

// The step during which ranks leave is not kept. The others go on from the one before.
TEST(StateCopies, RanksThatAreLeftGoOnFromTheLastStep) {
  const Fitted expected = undisturbed();
  for (const std::int64_t step : {2, 4, 5, 7, 20}) {
    for (const Fitted& each : fitted_by_those_left({.step = step})) {
      expect_same(each, expected);
      ASSERT_TRUE(each.report.resumed) << step;
      EXPECT_EQ(each.report.resumed->step, step - 1);
      EXPECT_EQ(each.report.resumed->snapshot, "");
    }
  }
}

TEST(StateCopies, OneRankIsLeft) {
  const std::vector<Fitted> results = fitted_by_those_left({.world = 2});
  expect_same(results.front(), undisturbed());
  EXPECT_EQ(results.front().report.resumed->step, 5);
}

TEST(StateCopies, AreKeptEverySoManySteps) {
  for (const Fitted& each : fitted_by_those_left(
           {.step = 9, .change = [](TrainerOptions& options) { options.copies_every = 3; }})) {
    expect_same(each, undisturbed());
    EXPECT_EQ(each.report.resumed->step, 6);
  }
}

TEST(StateCopies, WithoutAVersionTrainingBeginsAnew) {
  for (const Fitted& each : fitted_by_those_left({.step = 1})) {
    expect_same(each, undisturbed());
    EXPECT_FALSE(each.report.resumed);
  }
}

// Snapshots up to the step of the copies stay, later ones are set aside.
TEST(StateCopies, AreTakenBeforeSnapshots) {
  const TemporaryDirectory folder;
  const auto change = [&](TrainerOptions& options) {
    options.checkpoint = {
        .directory = folder.path(), .every_steps = 2, .keep_last = 100, .background = false};
    options.resume = "";
    options.copies_every = 5;
  };
  for (const Fitted& each : fitted_by_those_left({.step = 9, .change = change})) {
    expect_same(each, undisturbed());
    EXPECT_EQ(each.report.resumed->step, 5);
  }
  const auto has = [&](const std::string& name) {
    return std::filesystem::exists(std::filesystem::path(folder.path()) / name);
  };
  EXPECT_TRUE(has("step-000000000004"));
  EXPECT_TRUE(has("step-000000000020"));
  EXPECT_FALSE(has("set-aside-1/step-000000000004"));
  EXPECT_TRUE(has("set-aside-1/step-000000000006"));
}

// A training that all ranks have ended leaves nothing to the next one.
TEST(StateCopies, TheNextTrainingBeginsAnew) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    StateCopies copies(arena);
    const Fitted first = fitted(group, arena, options_with(&copies));
    const Fitted second = fitted(group, arena, options_with(&copies));
    EXPECT_FALSE(second.report.resumed);
    expect_same(second, first);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(StateCopies, OtherSettingsInTheMiddleOfAnEpochAreRefused) {
  for (const Fitted& each :
       fitted_by_those_left({.change_after = [](TrainerOptions& options) { options.seed = 9; }})) {
    EXPECT_NE(each.refusal.find("training cannot go on from the copies of step 5"), std::string::npos)
        << each.refusal;
    EXPECT_NE(each.refusal.find("TrainerOptions::seed = 1, and now TrainerOptions::seed = 9"),
              std::string::npos)
        << each.refusal;
  }
}

}  // namespace
}  // namespace cohort::test
