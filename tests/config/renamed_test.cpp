#include "config/keys.h"

#include "all_keys.h"
#include "config/load.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace cohort::config {
namespace {

std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto loaded = load(kKeys, {.text = text, .file_name = "job.toml", .overrides = overrides});
  if (loaded) return "accepted";
  EXPECT_EQ(loaded.error().code(), ErrorCode::kUsage);
  return loaded.error().text();
}

struct Row {
  std::string section, key, remedy;
  std::vector<std::string> named;  // keys that the remedy names
};

const std::vector<Row> kRows = {
    {"update", "rule", "it is called optimizer.name", {"optimizer.name"}},
    {"update", "learning_rate", "it is called optimizer.learning_rate", {"optimizer.learning_rate"}},
    {"update", "momentum", "it is called optimizer.momentum", {"optimizer.momentum"}},
    {"update", "beta1", "it is the first number of optimizer.betas", {"optimizer.betas"}},
    {"update", "beta2", "it is the second number of optimizer.betas", {"optimizer.betas"}},
    {"update", "epsilon", "it is called optimizer.eps", {"optimizer.eps"}},
    {"update", "weight_decay", "it is called optimizer.weight_decay", {"optimizer.weight_decay"}},
    {"update", "groups", "it is called optimizer.groups", {"optimizer.groups"}},
    {"update", "clip_norm", "it is called optimizer.clip_grad_norm", {"optimizer.clip_grad_norm"}},
    {"update", "clip_value", "it is called optimizer.clip_grad_value", {"optimizer.clip_grad_value"}},
    {"update", "skip_non_finite", "it is called optimizer.skip_non_finite", {"optimizer.skip_non_finite"}},
    {"update", "schedule", "it is called schedule.name", {"schedule.name"}},
    {"update", "warmup_steps", "it is called schedule.warmup_steps", {"schedule.warmup_steps"}},
    {"update",
     "schedule_steps",
     "it is called schedule.step_size, and schedule.t_max for a cosine",
     {"schedule.step_size", "schedule.t_max"}},
    {"update", "schedule_factor", "it is called schedule.gamma", {"schedule.gamma"}},
    {"update", "final_learning_rate", "it is called schedule.eta_min", {"schedule.eta_min"}},
    {"train", "batch", "it is called train.batch_size", {"train.batch_size"}},
    {"train", "slots", "it is called train.micro_batches", {"train.micro_batches"}},
    {"data", "normalise", "it is called data.normalize", {"data.normalize"}},
    {"communication", "engine", "it is called communication.backend", {"communication.backend"}},
    {"launch", "timeout", "it is called launch.wait_limit", {"launch.wait_limit"}},
    {"data", "num_workers", "it is called data.loader_threads", {"data.loader_threads"}},
};

TEST(Renamed, EveryOldKeyIsRefusedInAFileWithItsLine) {
  for (const Row& row : kRows) {
    EXPECT_EQ(refusal("[log]\n[" + row.section + "]\n" + row.key + " = 1\n"),
              "job.toml:3: there is no key '" + row.section + "." + row.key + "'; " + row.remedy);
  }
}

TEST(Renamed, EveryOldKeyIsRefusedOnACommandLine) {
  for (const Row& row : kRows) {
    const std::string key = row.section + "." + row.key;
    EXPECT_EQ(refusal("", {key + "=x"}), "--set " + key + "=x: there is no key '" + key + "'; " + row.remedy);
  }
}

TEST(Renamed, EveryRemedyNamesKeysThatExist) {
  for (const Row& row : kRows) {
    for (const std::string& key : row.named) {
      EXPECT_NE(find_key(kKeys, key), nullptr) << key;
      EXPECT_NE(row.remedy.find(key), std::string::npos) << key;
    }
  }
}

TEST(Renamed, NoKeyThatExistsIsAnOldOne) {
  for (const Key& key : kKeys) EXPECT_FALSE(find_renamed(key.name)) << key.name;
}

TEST(Renamed, TheOldSectionIsRefusedToo) {
  const std::string expected = "there is no section [update]; its keys are in [optimizer] and [schedule]";
  EXPECT_EQ(refusal("\n[update]\n"), "job.toml:2: " + expected);
  EXPECT_EQ(refusal("[update]\nfused = true\n"), "job.toml:2: " + expected);
}

TEST(Renamed, EveryLineOfAnOldSectionIsListed) {
  EXPECT_EQ(refusal("[update]\nrule = \"adamw\"\nclip_norm = 1.0\n[train]\nbatch = 64\n"),
            "3 mistakes:\n"
            "  job.toml:2: there is no key 'update.rule'; it is called optimizer.name\n"
            "  job.toml:3: there is no key 'update.clip_norm'; it is called optimizer.clip_grad_norm\n"
            "  job.toml:5: there is no key 'train.batch'; it is called train.batch_size");
}

TEST(Renamed, OldOptimizersAreRefusedWithTheSettingsThatMeanThem) {
  const std::string allowed = fmt::format(" is not known; allowed: one of {}; ",
                                          fmt::join(find_key(kKeys, "optimizer.name")->choices, ", "));
  EXPECT_EQ(
      refusal("[optimizer]\nname = \"momentum\"\n"),
      "job.toml:2: optimizer.name = \"momentum\"" + allowed + "write name = \"sgd\" and momentum = 0.9");
  EXPECT_EQ(refusal("[optimizer]\nname = \"nesterov\"\n"),
            "job.toml:2: optimizer.name = \"nesterov\"" + allowed +
                "write name = \"sgd\", momentum = 0.9 and nesterov = true");
}

TEST(Renamed, OldOptionsOfTheCommandLineAreKnown) {
  ASSERT_TRUE(find_renamed("--engine"));
  EXPECT_EQ(find_renamed("--engine")->remedy, "it is called --backend");
  EXPECT_FALSE(find_renamed("--backend"));
}

}  // namespace
}  // namespace cohort::config
