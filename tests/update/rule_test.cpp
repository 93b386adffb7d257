#include "update/rule.h"

#include "spans.h"

#include <cmath>
#include <cohort/error.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

// The formulas at the top of rule.h, one element at a time, in double.
class Reference {
 public:
  Reference(const Rule& rule, const Arrays& start)
      : rule_(rule), p(start.parameters.begin(), start.parameters.end()), m_(p.size()), v_(p.size()) {}

  void apply(const UpdateStep& step, const std::vector<float>& gradients) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      double g = gradients[i] * step.gradient_scale;
      if (step.clip_value > 0) g = std::min(std::max(g, -step.clip_value), step.clip_value);
      if (rule_.kind == RuleKind::kAdamW) {
        p[i] -= step.learning_rate * rule_.weight_decay * p[i];
      } else {
        g += rule_.weight_decay * p[i];
      }
      p[i] -= step.learning_rate * change(i, g, static_cast<double>(step.count));
    }
  }

 private:
  const Rule rule_;

 public:
  std::vector<double> p;

 private:
  double change(std::size_t i, double g, double t) {
    switch (rule_.kind) {
      case RuleKind::kSgd:
        return g;
      case RuleKind::kMomentum:
        m_[i] = rule_.momentum * m_[i] + g;
        return m_[i];
      case RuleKind::kNesterov:
        m_[i] = rule_.momentum * m_[i] + g;
        return g + rule_.momentum * m_[i];
      case RuleKind::kAdam:
      case RuleKind::kAdamW:
        m_[i] = rule_.beta1 * m_[i] + (1 - rule_.beta1) * g;
        v_[i] = rule_.beta2 * v_[i] + (1 - rule_.beta2) * g * g;
        return m_[i] / (1 - std::pow(rule_.beta1, t)) /
               (std::sqrt(v_[i] / (1 - std::pow(rule_.beta2, t))) + rule_.epsilon);
    }
    return 0;
  }

  std::vector<double> m_, v_;
};

void expect_the_formula(const Rule& rule, const UpdateStep& like) {
  constexpr int kSteps = 6;
  // Each step rounds fewer than 16 times, numbers below 16 by half a unit of 2^-23.
  constexpr double kTolerance = kSteps * 16 * 16 * 0x1p-24;
  for (const std::size_t count : kAwkwardCounts) {
    Arrays arrays(rule.kind, count, 17);
    Reference reference(rule, arrays);
    for (int i = 1; i <= kSteps; ++i) {
      UpdateStep step = like;
      step.count = i;
      step.learning_rate = 0.1 / i;
      arrays.new_gradients(17, static_cast<std::uint64_t>(i));
      const std::vector<float> gradients = arrays.gradients;
      apply(rule, step, arrays.spans());
      reference.apply(step, gradients);
      if (step.gradient == Gradient::kKeep) {
        EXPECT_EQ(arrays.gradients, gradients);
      } else {
        EXPECT_EQ(arrays.gradients, std::vector<float>(count));
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      ASSERT_NEAR(arrays.parameters[k], reference.p[k], kTolerance)
          << name(rule.kind) << ", element " << k << " of " << count;
    }
  }
}

class EveryRule : public testing::TestWithParam<RuleKind> {};
INSTANTIATE_TEST_SUITE_P(, EveryRule, testing::ValuesIn(kAllRules), rule_name);

TEST_P(EveryRule, FollowsItsFormula) {
  expect_the_formula({.kind = GetParam()}, {});
}

TEST_P(EveryRule, FollowsItsFormulaWithOtherSettings) {
  expect_the_formula({.kind = GetParam(),
                      .momentum = 0.5,
                      .beta1 = 0.3,
                      .beta2 = 0.9,
                      .epsilon = 0.01,
                      .weight_decay = 0.25},
                     {});
}

TEST_P(EveryRule, ScalesClipsAndZeroesInTheSamePass) {
  expect_the_formula({.kind = GetParam(), .weight_decay = 0.125},
                     {.gradient_scale = 0.5, .clip_value = 0.25, .gradient = Gradient::kZero});
}

TEST_P(EveryRule, GivesTheSameBitsHoweverItIsCut) {
  const Rule rule{.kind = GetParam(), .weight_decay = 0.01};
  const UpdateStep step{.count = 3, .learning_rate = 0.1, .gradient_scale = 0.3, .clip_value = 0.2};
  constexpr std::size_t kCount = 50021;
  Arrays whole(rule.kind, kCount, 5);
  apply(rule, step, whole.spans());
  for (const std::size_t piece : {1009ul, 16384ul, 49999ul}) {
    Arrays cut(rule.kind, kCount, 5);
    for (std::size_t first = 0; first < kCount; first += piece) {
      apply(rule, step, cut.spans().subspan(first, std::min(piece, kCount - first)));
    }
    EXPECT_TRUE(cut == whole) << "pieces of " << piece;
  }
  for (const int threads : {1, 2, 3}) {
    Arrays shared(rule.kind, kCount, 5);
    apply(rule, step, shared.spans(), ThreadedLoop(threads));
    EXPECT_TRUE(shared == whole) << threads << " threads";
  }
}

TEST_P(EveryRule, LeavesParametersWithoutGradientAndHistoryAlone) {
  Arrays arrays(GetParam(), 33, 9);
  arrays.gradients.assign(33, 0.0f);
  const std::vector<float> before = arrays.parameters;
  apply({.kind = GetParam()}, {.learning_rate = 0.1}, arrays.spans());
  EXPECT_EQ(arrays.parameters, before);
}

TEST_P(EveryRule, LetsANaNThroughTheClip) {
  Arrays arrays(GetParam(), 40, 9);
  arrays.gradients[3] = std::nanf("");
  arrays.gradients[39] = std::nanf("");
  apply({.kind = GetParam()}, {.learning_rate = 0.1, .clip_value = 1}, arrays.spans());
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(std::isnan(arrays.parameters[i]), i == 3 || i == 39) << i;
}

TEST_P(EveryRule, RefusesSpansThatAreNotIts) {
  Arrays arrays(GetParam(), 3, 9);
  std::vector<float> more(3);
  UpdateSpans spans = arrays.spans();
  spans.first = spans.first == nullptr ? more.data() : nullptr;
  EXPECT_THROW(apply({.kind = GetParam()}, {.learning_rate = 0.1}, spans), BugError);
  EXPECT_THROW(apply({.kind = GetParam()}, {.count = 0, .learning_rate = 0.1}, arrays.spans()), BugError);
}

TEST(Momentum, IsExactOnExactNumbers) {
  std::vector<float> p = {8, -8}, g = {2, 4}, m = {0, 0};
  const UpdateSpans spans{p.data(), g.data(), m.data(), nullptr, 2};
  const Rule rule{.kind = RuleKind::kMomentum, .momentum = 0.5};
  apply(rule, {.count = 1, .learning_rate = 0.25}, spans);
  EXPECT_EQ(m, (std::vector<float>{2, 4}));
  EXPECT_EQ(p, (std::vector<float>{7.5, -9}));
  apply(rule, {.count = 2, .learning_rate = 0.25}, spans);
  EXPECT_EQ(m, (std::vector<float>{3, 6}));
  EXPECT_EQ(p, (std::vector<float>{6.75, -10.5}));
}

TEST(SquareSum, IsExactOnExactNumbers) {
  for (const std::size_t count : kAwkwardCounts) {
    std::vector<float> values(count);
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(i) - 7;
      expected += double{values[i]} * double{values[i]};
    }
    EXPECT_EQ(square_sum(values), expected) << count;
  }
}

TEST(SquareSum, DoesNotOverflowWhereFloatsWould) {
  EXPECT_EQ(square_sum(std::vector<float>(3, 0x1p100f)), 3 * 0x1p200);
}

TEST(ClipScale, CutsTheNormAndNeverStretches) {
  EXPECT_EQ(clip_scale(0.5, 1), 1);
  EXPECT_EQ(clip_scale(0, 1), 1);
  EXPECT_NEAR(clip_scale(4, 1), 0.25, 1e-6);
  EXPECT_EQ(clip_scale(INFINITY, 1), 0);
  EXPECT_TRUE(std::isnan(clip_scale(std::nan(""), 1)));
}

}  // namespace
}  // namespace cohort
