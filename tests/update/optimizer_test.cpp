#include "update/optimizer.h"

#include "spans.h"
#include "update/kernels.h"
#include "update/settings.h"
#include <cohort/random.h>

#include <algorithm>
#include <cmath>
#include <cohort/error.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

// The formulas at the top of cohort/optimizer.h, one element at a time, in double.
class Reference {
 public:
  Reference(const OptimizerCase& each, const Arrays& start)
      : settings_(with_defaults(each.settings)),
        decay_(each.decay),
        p(start.parameters.begin(), start.parameters.end()),
        m_(p.size()),
        v_(p.size(), settings_.initial_accumulator_value),
        w_(p.size()) {}

  void apply(const UpdateStep& step, const std::vector<float>& gradients) {
    const auto t = static_cast<double>(step.count);
    mu_product_ *= mu(t);
    for (std::size_t i = 0; i < p.size(); ++i) {
      double g = gradients[i] * step.gradient_scale;
      if (step.clip_value > 0) g = std::min(std::max(g, -step.clip_value), step.clip_value);
      if (settings_.maximize) g = -g;
      if (decay_ == WeightDecay::kDecoupled) {
        p[i] -= step.learning_rate * settings_.weight_decay * p[i];
      } else {
        g += settings_.weight_decay * p[i];
      }
      p[i] -= step.learning_rate * change(i, g, t);
    }
  }

 private:
  const OptimizerSettings settings_;
  const WeightDecay decay_;

 public:
  std::vector<double> p;

 private:
  double change(std::size_t i, double g, double t) {
    switch (settings_.kind) {
      case OptimizerKind::kAdam:
      case OptimizerKind::kAdamW:
        average(i, g);
        w_[i] = std::max(w_[i], v_[i]);
        return m_[i] / bias(settings_.betas->first, t) /
               (root(settings_.amsgrad ? w_[i] : v_[i], t) + *settings_.eps);
      case OptimizerKind::kAdagrad:
        v_[i] += g * g;
        return g / (std::sqrt(v_[i]) + *settings_.eps) / (1 + (t - 1) * settings_.lr_decay);
      case OptimizerKind::kRmsprop: {
        v_[i] = settings_.alpha * v_[i] + (1 - settings_.alpha) * g * g;
        w_[i] = settings_.alpha * w_[i] + (1 - settings_.alpha) * g;
        const double square = settings_.centered ? v_[i] - w_[i] * w_[i] : v_[i];
        m_[i] = *settings_.momentum * m_[i] + g / (std::sqrt(square) + *settings_.eps);
        return m_[i];
      }
      case OptimizerKind::kAdadelta: {
        v_[i] = settings_.rho * v_[i] + (1 - settings_.rho) * g * g;
        const double d = g * std::sqrt(w_[i] + *settings_.eps) / std::sqrt(v_[i] + *settings_.eps);
        w_[i] = settings_.rho * w_[i] + (1 - settings_.rho) * d * d;
        return d;
      }
      case OptimizerKind::kAdamax:
        average(i, g);
        w_[i] = std::max(settings_.betas->second * w_[i], std::abs(g) + *settings_.eps);
        return m_[i] / bias(settings_.betas->first, t) / w_[i];
      case OptimizerKind::kNadam: {
        average(i, g);
        const double mixed =
            g * (1 - mu(t)) / (1 - mu_product_) + m_[i] * mu(t + 1) / (1 - mu_product_ * mu(t + 1));
        return mixed / (root(v_[i], t) + *settings_.eps);
      }
      case OptimizerKind::kRadam: {
        average(i, g);
        const double b = settings_.betas->second, most = 2 / (1 - b) - 1;
        const double length = most - 2 * t * std::pow(b, t) / bias(b, t);
        const double plain = m_[i] / bias(settings_.betas->first, t);
        if (length <= 5) return plain;
        const double r = std::sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length));
        return plain * r * std::sqrt(bias(b, t)) / (std::sqrt(v_[i]) + *settings_.eps);
      }
      case OptimizerKind::kLion: {
        const double direction = m_[i] + (1 - settings_.betas->first) * (g - m_[i]);
        m_[i] += (1 - settings_.betas->second) * (g - m_[i]);
        return direction > 0 ? 1 : direction < 0 ? -1 : 0;
      }
      case OptimizerKind::kSgd:
        m_[i] = t == 1 ? g : *settings_.momentum * m_[i] + (1 - settings_.dampening) * g;
        if (*settings_.momentum == 0) return g;
        return *settings_.nesterov ? g + *settings_.momentum * m_[i] : m_[i];
      default:
        ADD_FAILURE() << "no formula of " << name(settings_.kind) << " here";
    }
    return 0;
  }

  void average(std::size_t i, double g) {
    const auto [first, second] = *settings_.betas;
    m_[i] = first * m_[i] + (1 - first) * g;
    v_[i] = second * v_[i] + (1 - second) * g * g;
  }
  static double bias(double beta, double t) { return 1 - std::pow(beta, t); }
  double root(double square, double t) const { return std::sqrt(square / bias(settings_.betas->second, t)); }
  double mu(double t) const {
    return settings_.betas.value_or(std::pair(0.0, 0.0)).first *
           (1 - 0.5 * std::pow(0.96, t * settings_.momentum_decay));
  }

  std::vector<double> m_, v_, w_;
  double mu_product_ = 1;
};

/// The steps of a comparison, and the elements of each span.
struct Course {
  int steps = 6;
  std::size_t piece = std::size_t{1} << 20;
};

void expect_the_formula(const OptimizerCase& each, const UpdateStep& like, const Course& course = {}) {
  const OptimizerSettings& settings = each.settings;
  // Each step rounds fewer than 16 times, numbers below 16 by half a unit of 2^-23.
  const double tolerance = course.steps * 16 * 16 * 0x1p-24;
  for (const std::size_t count : kAwkwardCounts) {
    Arrays arrays(settings, count, 17);
    Reference reference(each, arrays);
    for (int i = 1; i <= course.steps; ++i) {
      UpdateStep step = like;
      step.count = i;
      step.learning_rate = 0.1 / i;
      arrays.new_gradients(17, static_cast<std::uint64_t>(i));
      const std::vector<float> gradients = arrays.gradients;
      for (std::size_t first = 0; first < count; first += course.piece) {
        apply(settings, step, arrays.spans().subspan(first, std::min(course.piece, count - first)));
      }
      reference.apply(step, gradients);
      EXPECT_EQ(arrays.gradients, gradients);
    }
    for (std::size_t k = 0; k < count; ++k) {
      ASSERT_NEAR(arrays.parameters[k], reference.p[k], tolerance)
          << name(settings.kind) << ", element " << k << " of " << count;
    }
  }
}

class EveryOptimizer : public testing::TestWithParam<OptimizerCase> {};
INSTANTIATE_TEST_SUITE_P(, EveryOptimizer, testing::ValuesIn(all_optimizers()), case_name);

TEST_P(EveryOptimizer, FollowsItsFormula) {
  expect_the_formula(GetParam(), {});
}

TEST_P(EveryOptimizer, FollowsItsFormulaForAHundredStepsInPieces) {
  expect_the_formula(GetParam(), {}, {.steps = 100, .piece = 61});
}

TEST_P(EveryOptimizer, FollowsItsFormulaWithOtherSettings) {
  OptimizerCase other = GetParam();
  const OptimizerSettings usual = with_defaults(other.settings);
  if (usual.momentum.value_or(0) > 0) other.settings.momentum = 0.5;
  if (usual.betas) other.settings.betas = {0.3, 0.9};
  if (usual.eps) other.settings.eps = 0.01;
  other.settings.weight_decay = 0.25;
  expect_the_formula(other, {});
}

TEST_P(EveryOptimizer, ScalesAndClipsInTheSamePass) {
  OptimizerCase other = GetParam();
  other.settings.weight_decay = 0.125;
  expect_the_formula(other, {.gradient_scale = 0.5, .clip_value = 0.25});
}

TEST_P(EveryOptimizer, GivesTheSameBitsHoweverItIsCut) {
  OptimizerSettings settings = GetParam().settings;
  settings.weight_decay = 0.01;
  const UpdateStep step{.count = 3, .learning_rate = 0.1, .gradient_scale = 0.3, .clip_value = 0.2};
  constexpr std::size_t kCount = 50021;
  Arrays whole(settings, kCount, 5);
  apply(settings, step, whole.spans());
  for (const std::size_t piece : {1009ul, 16384ul, 49999ul}) {
    Arrays cut(settings, kCount, 5);
    for (std::size_t first = 0; first < kCount; first += piece) {
      apply(settings, step, cut.spans().subspan(first, std::min(piece, kCount - first)));
    }
    EXPECT_TRUE(cut == whole) << "pieces of " << piece;
  }
  for (const int threads : {1, 2, 3}) {
    Arrays shared(settings, kCount, 5);
    apply(settings, step, shared.spans(), ThreadedLoop(threads));
    EXPECT_TRUE(shared == whole) << threads << " threads";
  }
}

TEST_P(EveryOptimizer, LeavesParametersWithoutGradientAndHistoryAlone) {
  Arrays arrays(GetParam().settings, 33, 9);
  arrays.gradients.assign(33, 0.0f);
  const std::vector<float> before = arrays.parameters;
  apply(GetParam().settings, {.learning_rate = 0.1}, arrays.spans());
  EXPECT_EQ(arrays.parameters, before);
}

TEST_P(EveryOptimizer, LetsANaNThroughTheClip) {
  Arrays arrays(GetParam().settings, 40, 9);
  arrays.gradients[3] = std::nanf("");
  arrays.gradients[39] = std::nanf("");
  apply(GetParam().settings, {.learning_rate = 0.1, .clip_value = 1}, arrays.spans());
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(std::isnan(arrays.parameters[i]), i == 3 || i == 39) << i;
}

TEST_P(EveryOptimizer, RefusesSpansThatAreNotIts) {
  Arrays arrays(GetParam().settings, 3, 9);
  std::vector<float> more(3);
  UpdateSpans spans = arrays.spans();
  spans.moments[0] = spans.moments[0] == nullptr ? more.data() : nullptr;
  EXPECT_THROW(apply(GetParam().settings, {.learning_rate = 0.1}, spans), BugError);
  EXPECT_THROW(apply(GetParam().settings, {.count = 0, .learning_rate = 0.1}, arrays.spans()), BugError);
}

TEST(NumMoments, FollowsFromTheSettings) {
  EXPECT_EQ(num_moments({.kind = OptimizerKind::kSgd, .momentum = 0}), 0);
  EXPECT_EQ(num_moments({.kind = OptimizerKind::kSgd, .momentum = 0.5}), 1);
  EXPECT_EQ(num_moments({.kind = OptimizerKind::kSgd, .momentum = 0.5, .nesterov = true}), 1);
  EXPECT_EQ(num_moments({.kind = OptimizerKind::kAdam}), 2);
  EXPECT_EQ(num_moments({.kind = OptimizerKind::kAdamW, .amsgrad = true}), 3);
  EXPECT_EQ(num_moments({.kind = OptimizerKind::kRmsprop}), 1);
  EXPECT_EQ(num_moments({.kind = OptimizerKind::kRmsprop, .momentum = 0.5, .centered = true}), 3);
  EXPECT_EQ(num_moments({.kind = OptimizerKind::kLion}), 1);
}

TEST(WithDefaults, FillsInTheSettingsThatTheKindUses) {
  const OptimizerSettings rmsprop = with_defaults({.kind = OptimizerKind::kRmsprop});
  EXPECT_EQ(rmsprop.momentum, 0);
  EXPECT_EQ(rmsprop.eps, 1e-8);
  EXPECT_EQ(rmsprop.betas, std::nullopt);
  EXPECT_EQ(with_defaults({.kind = OptimizerKind::kLion}).betas, std::pair(0.9, 0.99));
  EXPECT_EQ(with_defaults({.learning_rate = 0.5}).learning_rate, 0.5);
}

TEST(CheckSettings, RefusesThoseWithoutUseAndThoseOutOfRange) {
  const auto mistake = [](const OptimizerSettings& settings) {
    const Status status = check_settings(settings);
    return status ? std::string() : status.error().text();
  };
  for (const OptimizerCase& each : all_optimizers()) EXPECT_EQ(mistake(each.settings), "") << each;
  EXPECT_NE(
      mistake({.kind = OptimizerKind::kAdam, .momentum = 0.9}).find("momentum is set, but adam has no use"),
      std::string::npos);
  EXPECT_NE(mistake({.kind = OptimizerKind::kSgd, .rho = 0.5}).find("it is for adadelta"), std::string::npos);
  EXPECT_NE(mistake({.kind = OptimizerKind::kAdam, .betas = std::pair(0.9, 1.0)}).find("betas.second is 1"),
            std::string::npos);
  EXPECT_NE(mistake({.weight_decay = std::nan("")}).find("weight_decay is nan"), std::string::npos);
  EXPECT_NE(mistake({.learning_rate = -1}).find("learning_rate is -1"), std::string::npos);
}

TEST(UsedSettings, AreThoseOfTheFormulaUnderTheNamesOfTorch) {
  const std::vector<OptimizerSetting> expected = {{"momentum", 0.0},   {"eps", 1e-8},  {"weight_decay", 0.0},
                                                  {"maximize", false}, {"alpha", 0.5}, {"centered", true}};
  EXPECT_EQ(used_settings({.kind = OptimizerKind::kRmsprop, .alpha = 0.5, .centered = true}), expected);
}

TEST(OptimizerTable, KnowsEveryOptimizerByItsName) {
  const std::vector<std::string> names = optimizer_names();
  ASSERT_GE(names.size(), 3u);
  EXPECT_EQ(names[2], "adamw");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto kind = optimizer_named(names[i]);
    ASSERT_TRUE(kind.has_value()) << names[i];
    EXPECT_EQ(static_cast<std::size_t>(*kind), i);
    EXPECT_EQ(name(*kind), names[i]);
  }
  EXPECT_EQ(optimizer_named("adamv"), std::nullopt);
}

TEST(OptimizerTable, NamesMomentsAsTorchDoes) {
  EXPECT_EQ(moment_names({.kind = OptimizerKind::kSgd, .momentum = 0}), (MomentNames{}));
  EXPECT_EQ(moment_names({.kind = OptimizerKind::kSgd}), (MomentNames{"momentum_buffer"}));
  EXPECT_EQ(moment_names({.kind = OptimizerKind::kAdam}), (MomentNames{"exp_avg", "exp_avg_sq"}));
  EXPECT_EQ(moment_names({.kind = OptimizerKind::kRmsprop, .centered = true}),
            (MomentNames{"square_avg", "", "grad_avg"}));
}

TEST(CheckUpdate, RefusesTypesWithoutAKernel) {
  for (const DType values : {DType::kF32, DType::kBF16}) {
    for (const DType gradients : {DType::kF32, DType::kBF16}) {
      const Status status = check_update({}, {values, gradients});
      ASSERT_EQ(status.has_value(), gradients == DType::kF32);
      if (!status) EXPECT_EQ(status.error().code(), ErrorCode::kUsage);
    }
  }
  EXPECT_NE(check_update({}, {DType::kF64, DType::kF32})
                .error()
                .text()
                .find("sgd cannot update parameters of type f64 with gradients of type f32"),
            std::string::npos);
}

TEST(Momentum, IsExactOnExactNumbers) {
  std::vector<float> p = {8, -8}, g = {2, 4}, m = {0, 0};
  const UpdateSpans spans{.parameters = p, .gradients = g, .moments = {m.data()}};
  const OptimizerSettings settings{.kind = OptimizerKind::kSgd, .momentum = 0.5};
  apply(settings, {.count = 1, .learning_rate = 0.25}, spans);
  EXPECT_EQ(m, (std::vector<float>{2, 4}));
  EXPECT_EQ(p, (std::vector<float>{7.5, -9}));
  apply(settings, {.count = 2, .learning_rate = 0.25}, spans);
  EXPECT_EQ(m, (std::vector<float>{3, 6}));
  EXPECT_EQ(p, (std::vector<float>{6.75, -10.5}));
}

double square_sum(std::span<const float> values) {
  ExactSum sum;
  add_squares(values, sum);
  return sum.value();
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

TEST(SquareSum, DoesNotDependOnWhereValuesAreCut) {
  std::vector<float> values(16 * 1009);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(RandomStream(3, 1).normal(i));
  }
  const double whole = square_sum(values);
  for (const std::size_t piece : {16u, 48u, 160u, 4096u, 4112u}) {
    ExactSum sum;
    for (std::size_t first = 0; first < values.size(); first += piece) {
      add_squares(std::span(values).subspan(first, std::min(piece, values.size() - first)), sum);
    }
    EXPECT_EQ(sum.value(), whole) << piece;
  }
}

TEST(SquareSum, DoesNotOverflowWhereFloatsWould) {
  EXPECT_EQ(square_sum(std::vector<float>(3, 0x1p100f)), 3 * 0x1p200);
}

}  // namespace
}  // namespace cohort
