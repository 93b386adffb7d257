#include "config/load.h"

#include "all_keys.h"

#include <gtest/gtest.h>

namespace cohort::config {
namespace {

// The mistakes of the defaults with these overrides, or "fine".
std::string verdict(const std::vector<std::string>& overrides) {
  const auto loaded = load(kKeys, {.text = "", .file_name = "job.toml", .overrides = overrides});
  return loaded ? "fine" : loaded.error().text();
}

// Whether the overrides are refused with a message that has these words. A wrong key would be refused, too,
// with other words.
bool refuses(const std::vector<std::string>& overrides, const std::string& words) {
  return verdict(overrides).find(words) != std::string::npos;
}

TEST(Check, TheDefaultsGoTogether) {
  EXPECT_EQ(verdict({}), "fine");
}

TEST(Check, FilesRequireAPath) {
  EXPECT_EQ(verdict({"data.kind=idx"}),
            "--set data.kind=idx: data.kind = \"idx\" requires data.path: name the file or folder");
  EXPECT_EQ(verdict({"data.kind=idx", "data.path=data/mnist"}), "fine");
  EXPECT_TRUE(refuses({"data.kind=csv"}, "data.kind = \"csv\" requires data.path"));
}

// x: the model of the row can be trained on the data of the column.
TEST(Check, EveryModelWithEveryKindOfData) {
  const std::vector<std::string> data{"idx", "csv", "text", "digits", "spirals", "regression", "markov"};
  const std::vector<std::pair<std::string, std::string>> fits{
      {"linear", ".x...x."}, {"logistic", "xx.xx.."}, {"softmax", "xx.xx.."}, {"mlp", "xx.xxx."},
      {"lenet", "x..x..."},  {"resnet18", "x..x..."}, {"gpt", "..x...x"}};
  for (const auto& [model, row] : fits) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      std::vector<std::string> overrides{"model.kind=" + model, "data.kind=" + data[i]};
      if (i < 3) overrides.emplace_back("data.path=somewhere");
      if (i == 3 || i == 4) overrides.emplace_back("data.classes=2");
      const std::string found = verdict(overrides);
      EXPECT_EQ(found == "fine", row[i] == 'x') << model << " on " << data[i] << ": " << found;
      EXPECT_EQ(found.find("cannot learn from") != std::string::npos, row[i] != 'x') << found;
    }
  }
}

TEST(Check, AMistakeBeginsWithItsLocation) {
  const auto loaded =
      load(kKeys, {.text = "[data]\nkind = \"markov\"\n", .file_name = "job.toml", .overrides = {}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().text(),
            "job.toml:2: model.kind = \"mlp\" cannot learn from data.kind = \"markov\"; tokens require "
            "model.kind = \"gpt\"");
}

TEST(Check, HeadsDivideTheWidth) {
  const std::vector<std::string> gpt{"model.kind=gpt", "data.kind=markov"};
  const auto with = [&](const std::string& more) {
    auto overrides = gpt;
    overrides.push_back(more);
    return verdict(overrides);
  };
  EXPECT_EQ(with("model.heads=8"), "fine");
  EXPECT_EQ(with("model.heads=5"), "--set model.heads=5: model.heads = 5 does not divide model.width = 128");
  EXPECT_EQ(with("model.width=130"),
            "--set model.width=130: model.heads = 4 does not divide model.width = 130");
  EXPECT_EQ(verdict({"model.heads=5"}), "fine") << "no gpt, no heads";
}

TEST(Check, ClassesFitTheGeneratorAndTheModel) {
  EXPECT_TRUE(refuses({"data.classes=11"}, "data.classes = 11 is above 10"));
  EXPECT_EQ(verdict({"data.classes=11", "data.kind=spirals"}), "fine");
  EXPECT_TRUE(refuses({"model.kind=logistic"}, "requires data.classes = 2, found 10"));
  EXPECT_EQ(verdict({"model.kind=logistic", "data.classes=2"}), "fine");
}

TEST(Check, SchedulesHaveWhatTheyNeed) {
  EXPECT_EQ(verdict({"schedule.name=step"}),
            "--set schedule.name=step: schedule.name = \"step\" requires schedule.step_size: the number of "
            "steps after which the learning rate is multiplied by 0.1");
  EXPECT_TRUE(refuses({"schedule.name=exponential"}, "requires schedule.step_size"));
  EXPECT_EQ(verdict({"schedule.name=step", "schedule.step_size=10"}), "fine");
  EXPECT_EQ(verdict({"schedule.name=cosine"}), "fine") << "over the whole run";
  EXPECT_EQ(
      verdict({"schedule.name=cosine", "schedule.eta_min=1"}),
      "--set schedule.eta_min=1: schedule.eta_min = 1 is above optimizer.learning_rate = 0.05; a cosine "
      "goes down");
}

TEST(Check, NesterovRequiresMomentum) {
  EXPECT_EQ(verdict({"optimizer.nesterov=true"}), "fine");
  EXPECT_EQ(
      verdict({"optimizer.nesterov=true", "optimizer.momentum=0"}),
      "--set optimizer.nesterov=true: optimizer.nesterov = true requires optimizer.momentum above 0, and "
      "it is 0");
}

TEST(Check, SettingsOfAnotherOptimizerHaveNoEffect) {
  EXPECT_EQ(verdict({"optimizer.name=rmsprop", "optimizer.momentum=0.5", "optimizer.alpha=0.5"}), "fine");
  EXPECT_EQ(verdict({"optimizer.name=adam", "optimizer.alpha=0.99"}), "fine") << "the default";
  EXPECT_EQ(verdict({"optimizer.name=adam", "optimizer.alpha=0.5"}),
            "--set optimizer.alpha=0.5: optimizer.alpha has no effect on optimizer.name = \"adam\", only on "
            "rmsprop: leave it out");
  EXPECT_TRUE(refuses({"optimizer.name=adam", "optimizer.momentum=0.5"}, "optimizer.momentum has no effect"));
  EXPECT_EQ(verdict({"optimizer.name=lion", "optimizer.maximize=true", "optimizer.weight_decay=1"}), "fine");
}

TEST(Check, AnyWorldRequiresAFixedNumberOfMicroBatches) {
  EXPECT_TRUE(refuses({"train.deterministic=any-world"}, "requires train.micro_batches"));
  EXPECT_EQ(verdict({"train.deterministic=any-world", "train.micro_batches=8"}), "fine");
}

TEST(Check, PatienceRequiresEvaluations) {
  EXPECT_TRUE(refuses({"train.patience=2", "train.evaluate_every=0"}, "evaluates only at the end"));
  EXPECT_EQ(verdict({"train.patience=2"}), "fine");
}

TEST(Check, AllAreListed) {
  const std::string found = verdict({"data.kind=text", "train.deterministic=any-world"});
  EXPECT_EQ(found.substr(0, 11), "3 mistakes:");
}

}  // namespace
}  // namespace cohort::config
