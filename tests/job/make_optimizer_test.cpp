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
momentum = 0.75
nesterov = true
betas = [0.5, 0.25]
eps = 0.125
weight_decay = 0.0625
)");
  const OptimizerSettings made = make_optimizer(job.optimizer);
  EXPECT_EQ(made.kind, OptimizerKind::kAdamW);
  EXPECT_EQ(made.learning_rate, 0.5);
  EXPECT_EQ(made.momentum, 0.75);
  EXPECT_TRUE(made.nesterov);
  EXPECT_EQ(made.betas, std::pair(0.5, 0.25));
  EXPECT_EQ(made.eps, 0.125);
  EXPECT_EQ(made.weight_decay, 0.0625);
}

TEST(MakeOptimizer, KnowsEveryOptimizerOfTheTable) {
  for (const std::string& word : optimizer_names()) {
    const Config job = loaded("[optimizer]\nname = \"" + word + "\"");
    EXPECT_EQ(name(make_optimizer(job.optimizer).kind), word);
  }
}

// A job without [optimizer] and a Trainer without options train alike.
TEST(MakeOptimizer, HasTheDefaultsOfTheLibrary) {
  const OptimizerSettings made = make_optimizer(loaded("").optimizer), library;
  EXPECT_EQ(made.kind, library.kind);
  EXPECT_EQ(made.learning_rate, library.learning_rate);
  EXPECT_EQ(made.momentum, library.momentum);
  EXPECT_EQ(made.nesterov, library.nesterov);
  EXPECT_EQ(made.betas, library.betas);
  EXPECT_EQ(made.eps, library.eps);
  EXPECT_EQ(made.weight_decay, library.weight_decay);
}

}  // namespace
}  // namespace cohort::job
