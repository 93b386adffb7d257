#include "update/groups.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

using Names = std::vector<std::string>;
using Settings = std::vector<GroupSettings>;

const Names kNames = {"embedding.weight",   "layers.0.fc.weight", "layers.0.fc.bias",
                      "layers.1.fc.weight", "layers.1.fc.bias",   "norm.weight"};

template <class T>
std::string refusal(const Result<T>& result) {
  if (result) return "";
  EXPECT_EQ(result.error().code(), ErrorCode::kUsage);
  return result.error().text();
}

Result<Settings> settings_of(const Names& texts) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<ParameterGroup> groups, parse_groups(texts));
  return settings_by_name(groups, kNames);
}

TEST(Glob, MatchesTheWholeName) {
  EXPECT_TRUE(update::matches("a.b", "a.b"));
  EXPECT_FALSE(update::matches("a.b", "a.bc"));
  EXPECT_FALSE(update::matches("a.b", "xa.b"));
  EXPECT_FALSE(update::matches("a.b", "aXb"));
  EXPECT_TRUE(update::matches("", ""));
  EXPECT_FALSE(update::matches("", "a"));
}

TEST(Glob, KnowsStarAndQuestionMark) {
  EXPECT_TRUE(update::matches("*", ""));
  EXPECT_TRUE(update::matches("*", "a.b"));
  EXPECT_TRUE(update::matches("*.bias", "layers.0.bias"));
  EXPECT_FALSE(update::matches("*.bias", "bias"));
  EXPECT_FALSE(update::matches("*.bias", "a.bias2"));
  EXPECT_TRUE(update::matches("*ab*ab", "abaabab"));
  EXPECT_FALSE(update::matches("*ab*abab", "abaab"));
  EXPECT_TRUE(update::matches("layers.?.*", "layers.7.w"));
  EXPECT_FALSE(update::matches("layers.?.*", "layers.17.w"));
  EXPECT_FALSE(update::matches("?", ""));
  EXPECT_TRUE(update::matches("a**", "a"));
}

TEST(Glob, DoesNotTakeForEverOnManyStars) {
  EXPECT_FALSE(update::matches(std::string(500, '*') + "b*b*b*b*b*b*b*b", std::string(5000, 'a') + "b"));
}

TEST(Groups, AreReadFromText) {
  const ParameterGroup group =
      value_or_throw(parse_group(" *.bias ,norm.* :  weight_decay = 0,learning_rate=1e-4, frozen "));
  EXPECT_EQ(group,
            (ParameterGroup{
                .patterns = {"*.bias", "norm.*"}, .learning_rate = 1e-4, .weight_decay = 0, .frozen = true}));
  EXPECT_EQ(value_or_throw(parse_group("a: frozen=false")), ParameterGroup{.patterns = {"a"}});
  for (const ParameterGroup& each : {group, ParameterGroup{.patterns = {"a"}}}) {
    EXPECT_EQ(value_or_throw(parse_group(text_of(each))), each);
  }
}

TEST(Groups, HaveALearningRateOrAFactorOfIt) {
  const ParameterGroup group = value_or_throw(parse_group("*.bias: learning_rate_factor=2.5"));
  EXPECT_EQ(group, (ParameterGroup{.patterns = {"*.bias"}, .learning_rate_factor = 2.5}));
  EXPECT_EQ(value_or_throw(parse_group(text_of(group))), group);
  EXPECT_EQ(value_or_throw(settings_of({"*.bias: learning_rate_factor=2.5"}))[2].learning_rate_factor, 2.5);
  EXPECT_NE(refusal(parse_group("a: learning_rate_factor=-1")).find("learning_rate_factor to '-1'"),
            std::string::npos);
  EXPECT_NE(refusal(settings_of({"*.bias: learning_rate_factor=2, learning_rate=1"}))
                .find("has a learning_rate and a learning_rate_factor"),
            std::string::npos);
}

TEST(Groups, ThatAreMadeInCodeAreCheckedToo) {
  const std::vector<ParameterGroup> groups = {{.patterns = {"a"}, .learning_rate = -1}};
  const auto settings = settings_by_name(groups, Names{"a"});
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message(),
            "the parameter group 'a' has learning_rate -1; expected a number of at least 0");
}

TEST(Groups, TheFirstThatMatchesDecides) {
  const Settings found = value_or_throw(settings_of(
      {"layers.0.*: learning_rate=0.5", "*.bias, norm.*: weight_decay=0", "embedding.*: frozen"}));
  const GroupSettings first{.learning_rate = 0.5, .weight_decay = {}};
  const GroupSettings second{.learning_rate = {}, .weight_decay = 0};
  const GroupSettings third{.learning_rate = {}, .weight_decay = {}, .is_frozen = true};
  EXPECT_EQ(found, (Settings{third, first, first, GroupSettings{}, second, second}));
}

TEST(Groups, OfNoTextsChangeNothing) {
  EXPECT_EQ(value_or_throw(settings_of({})), Settings(kNames.size()));
}

TEST(Groups, APatternWithoutParametersIsAMistake) {
  EXPECT_EQ(refusal(settings_of({"*.bais: weight_decay=0"})),
            "pattern '*.bais' of TrainerOptions::groups matches no parameter. Did you mean '*.bias'?");
  EXPECT_EQ(
      refusal(settings_of({"norm.wieght: weight_decay=0"})),
      "pattern 'norm.wieght' of TrainerOptions::groups matches no parameter. Did you mean 'norm.weight'?");
  EXPECT_EQ(refusal(settings_of({"layer.*: weight_decay=0"})),
            "pattern 'layer.*' of TrainerOptions::groups matches no parameter. Did you mean 'layers.*'?");
  const std::string text = refusal(settings_of({"convolution?: weight_decay=0"}));
  EXPECT_NE(text.find("The parameters are embedding.weight, layers.0.fc.weight"), std::string::npos) << text;
}

TEST(Groups, OneThatDecidesNothingIsAMistake) {
  const std::string text = refusal(settings_of({"*: weight_decay=1", "*.bias: weight_decay=0"}));
  EXPECT_NE(text.find("'*.bias' of TrainerOptions::groups has no effect"), std::string::npos) << text;
}

TEST(Groups, SayWhatIsWrong) {
  const auto reason = [](const std::string& text) {
    const std::string whole = refusal(parse_group(text));
    const std::string before = "group '" + text + "' of optimizer.groups ";
    EXPECT_EQ(whole.substr(0, before.size()), before);
    std::string found = whole.substr(before.size(), whole.find(" Write it as ") - before.size());
    if (found.ends_with('.')) found.pop_back();
    return found;
  };
  EXPECT_EQ(reason("*.bias"), "has no colon between patterns and settings");
  EXPECT_EQ(reason("a,,b: frozen"), "has an empty pattern");
  EXPECT_EQ(reason(": frozen"), "has an empty pattern");
  EXPECT_EQ(reason("a:"), "has an empty setting");
  EXPECT_EQ(reason("a: frozen,"), "has an empty setting");
  EXPECT_EQ(reason("a: frozen, frozen"), "sets frozen twice");
  EXPECT_EQ(reason("a: frozen=maybe"), "sets frozen to 'maybe'; expected true or false");
  EXPECT_EQ(reason("a: weight_decay"), "sets weight_decay to 'true'; expected a number of at least 0");
  EXPECT_EQ(reason("a: weight_decay=-1"), "sets weight_decay to '-1'; expected a number of at least 0");
  EXPECT_EQ(reason("a: learning_rate=1e-4x"),
            "sets learning_rate to '1e-4x'; expected a number of at least 0");
  EXPECT_EQ(reason("a: learning_rate=inf"), "sets learning_rate to 'inf'; expected a number of at least 0");
  EXPECT_EQ(reason("a: weight_deacy=0"),
            "has an unknown setting 'weight_deacy'; did you mean 'weight_decay'?");
  EXPECT_EQ(reason("a: x=0"),
            "has an unknown setting 'x'; the settings are learning_rate, learning_rate_factor, weight_decay, "
            "frozen, "
            "reducer, synchronizer");
}

}  // namespace
}  // namespace cohort
