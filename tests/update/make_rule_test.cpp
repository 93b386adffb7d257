#include "update/make_rule.h"

#include "spans.h"

#include <cmath>
#include <gtest/gtest.h>

namespace cohort {
namespace {

UpdateConfig config(std::string_view rule) {
  UpdateConfig config;
  config.rule = rule;
  config.momentum = 0.75;
  config.beta1 = 0.5;
  config.beta2 = 0.25;
  config.epsilon = 0.125;
  config.weight_decay = 0.0625;
  return config;
}

std::string refusal(const UpdateConfig& wrong) {
  const auto made = make_rule(wrong);
  if (made) return "";
  EXPECT_EQ(made.error().code(), ErrorCode::kUsage);
  return made.error().text();
}

TEST(MakeRule, TakesEveryRuleByItsName) {
  for (const RuleKind kind : kAllRules) {
    const Rule rule = value_or_throw(make_rule(config(name(kind))));
    EXPECT_EQ(rule.kind, kind);
    EXPECT_EQ(rule.momentum, 0.75);
    EXPECT_EQ(rule.beta1, 0.5);
    EXPECT_EQ(rule.beta2, 0.25);
    EXPECT_EQ(rule.epsilon, 0.125);
    EXPECT_EQ(rule.weight_decay, 0.0625);
  }
}

TEST(MakeRule, SaysWhatIsWrong) {
  EXPECT_EQ(refusal(config("adamv")), "update.rule = 'adamv' is unknown. Did you mean 'adam'?");

  UpdateConfig wrong = config("momentum");
  wrong.momentum = 1;
  EXPECT_EQ(refusal(wrong), "update.momentum = 1 is not a number from 0 up to but not including 1");
  wrong.rule = "sgd";
  EXPECT_EQ(refusal(wrong), "");

  wrong = config("adam");
  wrong.beta2 = -0.5;
  EXPECT_EQ(refusal(wrong), "update.beta2 = -0.5 is not a number from 0 up to but not including 1");

  wrong = config("adamw");
  wrong.epsilon = 0;
  EXPECT_EQ(refusal(wrong), "update.epsilon = 0 is not a number above 0");

  wrong = config("sgd");
  wrong.weight_decay = std::nan("");
  EXPECT_EQ(refusal(wrong), "update.weight_decay = nan is not a number of at least 0");
}

}  // namespace
}  // namespace cohort
