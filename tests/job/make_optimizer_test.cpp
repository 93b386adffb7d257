#include "job/make_optimizer.h"

#include "config/keys.h"
#include "config/load.h"
#include "update/optimizer.h"

#include <gtest/gtest.h>

namespace cohort::job {
namespace {

Config loaded(const std::string& text) {
  return value_or_throw(
             config::load(config::make_keys(), {.text = text, .file_name = "job.toml", .overrides = {}}))
      .config;
}

TEST(MakeOptimizer, TakesEverySettingOfAJob) {
  const Config job = loaded(R"(
[optimizer]
name = "adamw"
learning_rate = 0.5
betas = [0.5, 0.25]
eps = 0.125
weight_decay = 0.0625
maximize = true
amsgrad = true
)");
  const OptimizerSettings made = make_optimizer(job.optimizer);
  EXPECT_EQ(made.kind, OptimizerKind::kAdamW);
  EXPECT_EQ(made.learning_rate, 0.5);
  EXPECT_EQ(made.betas, std::pair(0.5, 0.25));
  EXPECT_EQ(made.eps, 0.125);
  EXPECT_EQ(made.weight_decay, 0.0625);
  EXPECT_TRUE(made.maximize);
  EXPECT_TRUE(made.amsgrad);
}

TEST(MakeOptimizer, TakesTheSettingsOfEachKind) {
  const auto made = [](const std::string& text) {
    return make_optimizer(loaded("[optimizer]\n" + text).optimizer);
  };
  const OptimizerSettings sgd = made("momentum = 0.5\nnesterov = true\ndampening = 0.25");
  EXPECT_EQ(sgd.momentum, 0.5);
  EXPECT_EQ(sgd.nesterov, true);
  EXPECT_EQ(sgd.dampening, 0.25);
  const OptimizerSettings adagrad = made("name = \"adagrad\"\nlr_decay = 0.5\ninitial_accumulator_value = 2");
  EXPECT_EQ(adagrad.lr_decay, 0.5);
  EXPECT_EQ(adagrad.initial_accumulator_value, 2);
  const OptimizerSettings rmsprop = made("name = \"rmsprop\"\nalpha = 0.5\ncentered = true\nmomentum = 0.25");
  EXPECT_EQ(rmsprop.alpha, 0.5);
  EXPECT_TRUE(rmsprop.centered);
  EXPECT_EQ(rmsprop.momentum, 0.25);
  EXPECT_EQ(made("name = \"adadelta\"\nrho = 0.5").rho, 0.5);
  const OptimizerSettings nadam =
      made("name = \"nadam\"\nmomentum_decay = 0.5\ndecoupled_weight_decay = true");
  EXPECT_EQ(nadam.momentum_decay, 0.5);
  EXPECT_TRUE(nadam.decoupled_weight_decay);
}

TEST(MakeOptimizer, KnowsEveryOptimizerOfTheTable) {
  for (const std::string& word : optimizer_names()) {
    const Config job = loaded("[optimizer]\nname = \"" + word + "\"");
    EXPECT_EQ(name(make_optimizer(job.optimizer).kind), word);
  }
}

TEST(MakeOptimizer, MakesEverySolver) {
  for (const std::string& word : solver_names()) {
    const auto made = make_solver(loaded("[optimizer]\nname = \"" + word + "\"").optimizer);
    ASSERT_TRUE(made);
    EXPECT_EQ(*made, (SolverSettings{.kind = *solver_named(word)}))
        << "the defaults are those of the library";
  }
  EXPECT_FALSE(make_solver(loaded("").optimizer));
  const auto owlqn = make_solver(loaded("[optimizer]\nname = \"owlqn\"\nl1 = 0.5\nweight_decay = "
                                        "0.25\nline_search = \"none\"\nlearning_rate = "
                                        "0.125\nhistory_size = 3")
                                     .optimizer);
  EXPECT_EQ(*owlqn, (SolverSettings{.kind = SolverKind::kOwlqn,
                                    .history_size = 3,
                                    .line_search = LineSearch::kNone,
                                    .learning_rate = 0.125,
                                    .l1 = 0.5,
                                    .weight_decay = 0.25}));
}

TEST(MakeOptimizer, OnlyASolverWithALineSearchHasNoSchedule) {
  EXPECT_TRUE(has_schedule(loaded("").optimizer));
  EXPECT_FALSE(has_schedule(loaded("[optimizer]\nname = \"lbfgs\"").optimizer));
  EXPECT_TRUE(has_schedule(loaded("[optimizer]\nname = \"lbfgs\"\nline_search = \"none\"").optimizer));
  EXPECT_FALSE(has_schedule(loaded("[optimizer]\nname = \"gauss-newton\"").optimizer));
}

// A job without [optimizer] and a Trainer without options train alike.
TEST(MakeOptimizer, HasTheDefaultsOfTheLibrary) {
  EXPECT_EQ(make_optimizer(loaded("").optimizer), with_defaults({}));
  for (const std::string& word : optimizer_names()) {
    const OptimizerSettings made = make_optimizer(loaded("[optimizer]\nname = \"" + word + "\"").optimizer);
    EXPECT_EQ(made, with_defaults({.kind = *optimizer_named(word)})) << word;
  }
}

}  // namespace
}  // namespace cohort::job
