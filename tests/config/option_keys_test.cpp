#include "config/option_keys.h"

#include "all_keys.h"

#include <gtest/gtest.h>

namespace cohort::config {
namespace {

TEST(OptionKeys, AnOptionOfCppBecomesTheKeyThatSetsIt) {
  EXPECT_EQ(with_keys("TrainerOptions::batch_size is -1. Give 0 or more."),
            "train.batch_size is -1. Give 0 or more.");
  EXPECT_EQ(with_keys("lower TrainerOptions::optimizer.learning_rate."), "lower optimizer.learning_rate.");
  EXPECT_EQ(with_keys("TrainerOptions::optimizer.betas.first is 2"),
            "the first number of optimizer.betas is 2");
  EXPECT_EQ(with_keys("TrainerOptions::deterministic = Deterministic::kAnyWorld"),
            "train.deterministic = \"any-world\"");
  EXPECT_EQ(with_keys("(TrainerOptions::steps, TrainerOptions::epochs)"), "(train.steps, train.epochs)");
}

TEST(OptionKeys, OtherTextStays) {
  for (const std::string text :
       {"", "TrainerOptions::", "TrainerOptions::on_step", "TrainerOptions::steps_taken", "batch_size"}) {
    EXPECT_EQ(with_keys(text), text);
  }
}

// Every member that becomes a key becomes one that exists.
TEST(OptionKeys, TheKeysExist) {
  for (const char* const member : {"optimizer.kind",
                                   "optimizer.learning_rate",
                                   "optimizer.momentum",
                                   "optimizer.nesterov",
                                   "optimizer.eps",
                                   "optimizer.weight_decay",
                                   "groups",
                                   "clip_grad_norm",
                                   "clip_grad_value",
                                   "skip_non_finite",
                                   "precision.compute",
                                   "precision.parameters",
                                   "precision.loss_scaling",
                                   "precision.loss_scale.init_scale",
                                   "precision.loss_scale.growth_factor",
                                   "precision.loss_scale.backoff_factor",
                                   "precision.loss_scale.growth_interval",
                                   "precision.loss_scale.hysteresis",
                                   "precision.least_loss_scale",
                                   "precision.fallback_steps",
                                   "batch_size",
                                   "micro_batches",
                                   "epochs",
                                   "steps",
                                   "evaluate_every",
                                   "patience",
                                   "seed",
                                   "shuffle",
                                   "deterministic",
                                   "directory",
                                   "bucket_bytes",
                                   "hash_every",
                                   "one_copy",
                                   "rank_factors",
                                   "loader_threads",
                                   "prefetch"}) {
    const std::string key = with_keys(std::string("TrainerOptions::") + member);
    EXPECT_NE(find_key(kKeys, key), nullptr) << member << " became " << key;
  }
  EXPECT_NE(find_key(kKeys, with_keys("ContextOptions::arena_bytes")), nullptr);
}

}  // namespace
}  // namespace cohort::config
