#include "config/load.h"

#include "all_keys.h"

#include <gtest/gtest.h>
#include <map>

namespace cohort::config {
namespace {

// The mistakes of the defaults with these overrides, or "fine".
std::string verdict(const std::vector<std::string>& overrides) {
  const auto loaded = load(kKeys, {.text = "", .file_name = "job.toml", .overrides = overrides});
  return loaded ? "fine" : loaded.error().text();
}

// The overrides that choose data of a kind, and a model for it.
std::vector<std::string> choose(const std::string& kind) {
  const bool has_files = kind == "idx" || kind == "csv" || kind == "text";
  const bool has_tokens = kind == "text" || kind == "markov";
  std::vector<std::string> overrides{"data.kind=" + kind};
  if (has_files) overrides.emplace_back("data.path=somewhere");
  if (has_tokens) overrides.emplace_back("model.kind=gpt");
  return overrides;
}

// x: the key has an effect on data of this kind.
TEST(Effect, AKeyThatChangesNothingIsRefused) {
  const std::vector<std::string> kinds{"idx", "csv", "text", "digits", "spirals", "regression", "markov"};
  const std::map<std::string, std::string> table{
      {"data.test_path=other", "xxx...."}, {"data.tokens=byte", "..x...."},
      {"data.target_column=y", ".x....."}, {"data.target=class", ".x....."},
      {"data.samples=5", "...xxxx"},       {"data.test_samples=5", "...xxxx"},
      {"data.test_share=0.5", "xxx...."},  {"data.split=end", "xxx...."},
      {"data.classes=3", "...xx.x"},       {"data.features=3", ".....x."},
      {"data.image_size=9", "...x..."},    {"data.noise=0.5", "...xxx."},
      {"data.context=8", "..x...x"},       {"data.stride=8", "..x...."},
      {"data.normalize=true", "xx.x..."},  {"data.shuffle=false", "xxxxxxx"},
      {"data.loader_threads=2", "xxxxxxx"}};
  for (const auto& [setting, row] : table) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      std::vector<std::string> overrides = choose(kinds[i]);
      overrides.push_back(setting);
      const std::string found = verdict(overrides);
      EXPECT_EQ(found == "fine", row[i] == 'x') << setting << " on " << kinds[i] << ": " << found;
      EXPECT_EQ(found.find("has no effect on") != std::string::npos, row[i] != 'x') << found;
    }
  }
}

TEST(Effect, KeysOfADynamicScaleNeedOne) {
  for (const std::string key : {"initial_scale=8", "growth_factor=4", "backoff_factor=0.25",
                                "growth_interval=7", "hysteresis=2", "least_scale=0.5"}) {
    const std::string setting = "precision." + key;
    EXPECT_EQ(verdict({setting, "precision.loss_scale=dynamic"}), "fine");
    for (const std::string scale : {"none", "512"}) {
      const std::string found = verdict({setting, "precision.loss_scale=" + scale});
      EXPECT_NE(found.find("has an effect only with precision.loss_scale"), std::string::npos) << found;
    }
  }
}

// x: the key has an effect on the schedule.
TEST(Effect, AKeyOfAnotherScheduleIsRefused) {
  const std::vector<std::string> names{"constant",     "step",       "multi-step", "exponential",
                                       "inverse-sqrt", "polynomial", "cosine",     "cosine-restarts",
                                       "one-cycle",    "wsd",        "plateau"};
  const std::map<std::string, std::string> table{{"step_size=5", ".x.x......."},
                                                 {"milestones=[5]", "..x........"},
                                                 {"gamma=0.5", ".xxx......."},
                                                 {"timescale=5", "....x......"},
                                                 {"total_steps=5", ".....x..xx."},
                                                 {"power=2", ".....x....."},
                                                 {"t_max=5", "......x...."},
                                                 {"t_0=5", ".......x..."},
                                                 {"t_mult=2", ".......x..."},
                                                 {"eta_min=0.01", ".....xxx.x."},
                                                 {"pct_start=0.2", "........x.."},
                                                 {"anneal_strategy=linear", "........x.."},
                                                 {"three_phase=true", "........x.."},
                                                 {"div_factor=5", "........x.."},
                                                 {"final_div_factor=5", "........x.."},
                                                 {"cycle_momentum=false", "........x.."},
                                                 {"base_momentum=0.5", "........x.."},
                                                 {"max_momentum=0.96", "........x.."},
                                                 {"decay_steps=5", ".........x."},
                                                 {"decay=cosine", ".........x."},
                                                 {"metric=training", "..........x"},
                                                 {"factor=0.5", "..........x"},
                                                 {"patience=5", "..........x"},
                                                 {"threshold=0.5", "..........x"},
                                                 {"threshold_mode=abs", "..........x"},
                                                 {"cooldown=5", "..........x"},
                                                 {"min_lr=0.01", "..........x"},
                                                 {"eps=0.5", "..........x"},
                                                 {"warmup_steps=5", "xxxxxxxxxxx"}};
  EXPECT_EQ(find_key(kKeys, "schedule.name")->choices, names);
  for (const auto& [setting, row] : table) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string found = verdict({"schedule.name=" + names[i], "schedule." + setting});
      EXPECT_EQ(found == "fine", row[i] == 'x') << setting << " on " << names[i] << ": " << found;
    }
  }
}

TEST(Effect, AKeyThatAnotherKeySwitchesOffIsRefused) {
  EXPECT_EQ(
      verdict({"schedule.warmup=constant"}),
      "--set schedule.warmup=constant: schedule.warmup has no effect with schedule.warmup_steps = 0: leave "
      "it out");
  EXPECT_EQ(verdict({"schedule.warmup=constant", "schedule.warmup_steps=1"}), "fine");
  EXPECT_NE(verdict({"schedule.warmup_start_factor=0.5"}).find("has no effect with"), std::string::npos);
  EXPECT_NE(verdict({"schedule.base_batch_size=5"}).find("scale_with_batch = \"none\""), std::string::npos);
  const std::vector<std::string> cycle{"schedule.name=one-cycle", "schedule.cycle_momentum=false",
                                       "schedule.base_momentum=0.5"};
  EXPECT_NE(verdict(cycle).find("has no effect with schedule.cycle_momentum = false"), std::string::npos);
}

TEST(Effect, TheMessageNamesTheKinds) {
  EXPECT_EQ(
      verdict({"data.stride=4"}),
      "--set data.stride=4: data.stride has no effect on data.kind = \"digits\", only on text: leave it "
      "out");
  EXPECT_EQ(
      verdict({"data.path=somewhere"}),
      "--set data.path=somewhere: data.path has no effect on data.kind = \"digits\", only on idx, cifar, "
      "csv, text: leave it out");
}

TEST(Effect, ADefaultThatIsWrittenOutIsAllowed) {
  EXPECT_EQ(verdict({"data.tokens=char", "data.split=auto", "data.path="}), "fine");
}

TEST(Effect, ATestFileAndASplitExcludeEachOther) {
  const auto with = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"data.kind=csv", "data.path=a", "data.test_path=b"});
    return verdict(more);
  };
  EXPECT_EQ(with({}), "fine");
  EXPECT_EQ(
      with({"data.split=stratified"}),
      "--set data.split=stratified: data.split has no effect, since data.test_path names the test data: "
      "leave one out");
  EXPECT_EQ(with({"data.test_share=0.2"}),
            "--set data.test_share=0.2: data.test_share has no effect, since data.test_path names the test "
            "data: leave one out");
  EXPECT_EQ(verdict({"data.kind=csv", "data.path=a", "data.split=end", "data.test_share=0"}),
            "--set data.split=end: data.split has no effect with data.test_share = 0: leave one out");
}

TEST(Effect, TextIsSplitAtItsEndOnly) {
  std::vector<std::string> overrides = choose("text");
  overrides.emplace_back("data.split=random");
  EXPECT_EQ(
      verdict(overrides),
      "--set data.split=random: data.split = \"random\" is not for data.kind = \"text\": samples of text "
      "may overlap, so the test data is the end of the text");
}

}  // namespace
}  // namespace cohort::config
