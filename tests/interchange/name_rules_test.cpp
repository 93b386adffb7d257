#include "interchange/name_report.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using interchange::map_names;
using interchange::NameReport;
using interchange::NameRules;
using interchange::TensorFacts;

std::string applied(const std::vector<std::string>& rules, const std::string& name) {
  return value_or_throw(NameRules::parse(rules)).apply(name).name;
}

std::string refused(const std::string& rule) {
  const auto rules = NameRules::parse(std::vector{rule});
  return rules ? "" : rules.error().message();
}

TEST(NameRules, MatchANameAndWhatIsBelow) {
  EXPECT_EQ(applied({"module.* -> *"}, "module.fc.weight"), "fc.weight");
  EXPECT_EQ(applied({"module.* -> *"}, "module.w"), "w");
  EXPECT_EQ(applied({"module.* -> *"}, "modules.w"), "modules.w");
  EXPECT_EQ(applied({"module.* -> *"}, "module."), "module.");
  EXPECT_EQ(applied({"transformer.h.*.attn -> blocks.*.attention"}, "transformer.h.11.attn.bias"),
            "blocks.11.attention.bias");
  EXPECT_EQ(applied({"transformer.h.*.attn -> blocks.*.attention"}, "transformer.h.11.attn"),
            "blocks.11.attention");
  EXPECT_EQ(applied({"transformer.h.*.attn -> blocks.*.attention"}, "transformer.h.1.2.attn"),
            "transformer.h.1.2.attn");
  EXPECT_EQ(applied({"transformer.h.*.attn -> blocks.*.attention"}, "transformer.h.1.attn2"),
            "transformer.h.1.attn2");
  EXPECT_EQ(applied({"weight -> w"}, "weight/exp_avg"), "w/exp_avg");
  EXPECT_EQ(applied({"*_proj.* -> *.*"}, "q_proj.weight"), "q.weight");
  EXPECT_EQ(applied({"a.*.* -> b.*"}, "a.1.2.c"), "b.1.c");
}

TEST(NameRules, MatchAnyPartsWithTwoStars) {
  EXPECT_EQ(applied({"optim.state.**.exp_avg -> **/exp_avg"}, "optim.state.0.weight.exp_avg"),
            "0.weight/exp_avg");
  EXPECT_EQ(applied({"optim.state.**.exp_avg -> **/exp_avg"}, "optim.state.0.weight.exp_avg_sq"),
            "optim.state.0.weight.exp_avg_sq");
  EXPECT_EQ(applied({"**.gamma -> **.weight"}, "a.b.gamma"), "a.b.weight");
  EXPECT_EQ(applied({"**.x.** -> **-**"}, "a.x.b.x.c"), "a-b.x.c") << "as few characters as possible";
  // Without the table of match() this would take longer than the universe has existed.
  std::string pattern, name(60, 'a');
  for (int i = 0; i < 25; ++i) pattern += "**a";
  EXPECT_EQ(applied({pattern + "**b -> x"}, name), name);
}

TEST(NameRules, CountInTheirOrder) {
  const std::vector<std::string> rules = {"a.b -> first", "a.* -> second", "* -> third.*"};
  EXPECT_EQ(applied(rules, "a.b.c"), "first.c");
  EXPECT_EQ(applied(rules, "a.c"), "second");
  EXPECT_EQ(applied(rules, "d"), "third.d");
  EXPECT_EQ(applied({}, "d"), "d");
}

TEST(NameRules, AreRefusedIfTheyMeanNothing) {
  EXPECT_EQ(refused("a -> b"), "");
  EXPECT_EQ(refused("a b"), "the rule 'a b' has no '->'");
  EXPECT_EQ(refused("-> b"), "the rule '-> b' lacks a name beside its '->'");
  EXPECT_EQ(refused("a ->"), "the rule 'a ->' lacks a name beside its '->'");
  EXPECT_EQ(refused("a.* -> *.*"), "the rule 'a.* -> *.*' has other wildcards on the right than on the left");
  EXPECT_EQ(refused("a.* -> **"), "the rule 'a.* -> **' has other wildcards on the right than on the left");
}

TEST(NameReport, SaysWhatBecameOfEveryName) {
  const auto rules = value_or_throw(
      NameRules::parse(std::vector<std::string>{"module.* -> *", "old -> new", "unused -> name"}));
  const std::vector<TensorFacts> file = {{"module.a", DType::kF32, {2}}, {"b", DType::kF32, {3}},
                                         {"c", DType::kF32, {}},         {"a", DType::kF32, {2}},
                                         {"e", DType::kI64, {4}},        {"same", DType::kF32, {}}};
  const std::vector<TensorFacts> target = {{"a", DType::kF32, {2}},
                                           {"b", DType::kF32, {3, 1}},
                                           {"d", DType::kF32, {}},
                                           {"e", DType::kF32, {4}},
                                           {"same", DType::kF32, {}}};
  const NameReport report = map_names(rules, file, target);
  EXPECT_FALSE(report.is_complete());
  EXPECT_EQ(report.matched.size(), 2u);
  EXPECT_EQ(report.text(),
            "2 matched (1 renamed), 2 of another type or shape, 1 unused, 1 missing\n"
            "renamed:\n  module.a -> a\n"
            "of another type or shape:\n  b: f32 [3] in the file, expected f32 [3, 1]\n"
            "  e: i64 [4] in the file, expected f32 [4]\n"
            "in the file, not used:\n  c\n"
            "missing in the file:\n  d\n"
            "renamed to a name that another tensor has:\n  a\n"
            "rules that match no name:\n  old -> new\n  unused -> name\n");
  const NameReport whole = map_names(NameRules(), target, target);
  EXPECT_TRUE(whole.is_complete());
  EXPECT_EQ(whole.text(), "5 matched (0 renamed), 0 of another type or shape, 0 unused, 0 missing\n");
}

}  // namespace
}  // namespace cohort::test
