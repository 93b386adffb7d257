#include "config/check.h"

#include "config/keys.h"

#include <gtest/gtest.h>

namespace cohort::config {
namespace {

const std::vector<Key> kKeys = make_keys();

// The mistakes of defaults with these overrides, or "fine".
std::string verdict(const std::vector<std::string>& overrides) {
  const auto loaded = load(kKeys, {.text = "", .file_name = "job.toml", .overrides = overrides});
  return loaded ? "fine" : loaded.error().text();
}

TEST(Check, TheDefaultsGoTogether) {
  EXPECT_EQ(verdict({}), "fine");
}

TEST(Check, FilesWantAPath) {
  EXPECT_EQ(verdict({"data.kind=idx"}),
            "--set data.kind=idx: data.kind = \"idx\" wants data.path: name the file or folder");
  EXPECT_EQ(verdict({"data.kind=idx", "data.path=data/mnist"}), "fine");
  EXPECT_NE(verdict({"data.kind=csv"}), "fine");
}

// Which model can learn from which data, as one table.
TEST(Check, EveryModelWithEveryKindOfData) {
  const std::vector<std::string> data{"idx", "csv", "text", "digits", "spirals", "regression", "markov"};
  const std::vector<std::pair<std::string, std::string>> fits{
      {"linear", ".x...x."}, {"logistic", "xx.xx.."}, {"softmax", "xx.xx.."}, {"mlp", "xx.xxx."},
      {"lenet", "x..x..."},  {"resnet18", "x..x..."}, {"gpt", "..x...x"}};
  for (const auto& [model, row] : fits) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::string found =
          verdict({"model.kind=" + model, "data.kind=" + data[i], "data.path=somewhere", "data.classes=2"});
      EXPECT_EQ(found == "fine", row[i] == 'x') << model << " on " << data[i] << ": " << found;
    }
  }
}

TEST(Check, AMistakeIsToldWhereItWasWritten) {
  const auto loaded =
      load(kKeys, {.text = "[data]\nkind = \"markov\"\n", .file_name = "job.toml", .overrides = {}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().text(),
            "job.toml:2: model.kind = \"mlp\" cannot learn from data.kind = \"markov\"; tokens want "
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
  EXPECT_EQ(with("model.heads=5"), "--set model.heads=5: model.heads = 5 do not divide model.width = 128");
  EXPECT_EQ(with("model.width=130"),
            "--set model.width=130: model.heads = 4 do not divide model.width = 130");
  EXPECT_EQ(verdict({"model.heads=5"}), "fine") << "no gpt, no heads";
}

TEST(Check, ClassesFitTheGeneratorAndTheModel) {
  EXPECT_NE(verdict({"data.classes=11"}), "fine");
  EXPECT_EQ(verdict({"data.classes=11", "data.kind=spirals"}), "fine");
  EXPECT_NE(verdict({"model.kind=logistic"}), "fine");
  EXPECT_EQ(verdict({"model.kind=logistic", "data.classes=2"}), "fine");
}

TEST(Check, SchedulesHaveWhatTheyNeed) {
  EXPECT_NE(verdict({"update.schedule=step"}), "fine");
  EXPECT_NE(verdict({"update.schedule=exponential"}), "fine");
  EXPECT_EQ(verdict({"update.schedule=step", "update.schedule_steps=10"}), "fine");
  EXPECT_EQ(verdict({"update.schedule=cosine"}), "fine") << "over the whole run";
  EXPECT_NE(verdict({"update.schedule=cosine", "update.final_learning_rate=1"}), "fine");
}

TEST(Check, AnyWorldWantsAFixedNumberOfSlots) {
  EXPECT_NE(verdict({"train.deterministic=any-world"}).find("wants train.slots"), std::string::npos);
  EXPECT_EQ(verdict({"train.deterministic=any-world", "train.slots=8"}), "fine");
}

TEST(Check, PatienceWantsEvaluations) {
  EXPECT_NE(verdict({"train.patience=2", "train.evaluate_every=0"}), "fine");
  EXPECT_EQ(verdict({"train.patience=2"}), "fine");
}

TEST(Check, AllAreListed) {
  const std::string found = verdict({"data.kind=text", "train.deterministic=any-world"});
  EXPECT_EQ(found.substr(0, 11), "3 mistakes:");
}

}  // namespace
}  // namespace cohort::config
