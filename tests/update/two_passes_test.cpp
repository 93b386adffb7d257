#include "update/two_passes.h"

#include "tensors.h"
#include "update/settings.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace cohort {
namespace {

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double each : values) sum += each * each;
  return std::sqrt(sum);
}

double root_mean_square(const std::vector<double>& values) {
  return norm(values) / std::sqrt(static_cast<double>(values.size()));
}

// A matrix product, straight from its definition.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::size_t inner) {
  const std::size_t rows = a.size() / inner, columns = b.size() / inner;
  std::vector<double> c(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t k = 0; k < inner; ++k) c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    }
  }
  return c;
}

std::vector<double> transposed(const std::vector<double>& a, std::size_t rows) {
  const std::size_t columns = a.size() / rows;
  std::vector<double> t(a.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) t[j * rows + i] = a[i * columns + j];
  }
  return t;
}

// The formulas at the top of cohort/optimizer.h for whole tensors, in double.
class TensorReference {
 public:
  TensorReference(const OptimizerSettings& settings, Shape shape, const Arrays& start)
      : p(start.parameters.begin(), start.parameters.end()),
        settings_(with_defaults(settings)),
        shape_(std::move(shape)),
        m_(p.size()),
        v_(p.size()),
        rows_(p.size()),
        columns_(p.size()) {}

  void apply(const UpdateStep& step, const std::vector<float>& gradients) {
    std::vector<double> g(gradients.begin(), gradients.end());
    for (double& each : g) {
      each *= step.gradient_scale;
      if (step.clip_value > 0) each = std::min(std::max(each, -step.clip_value), step.clip_value);
      if (settings_.maximize) each = -each;
    }
    const auto t = static_cast<double>(step.count);
    switch (settings_.kind) {
      case OptimizerKind::kLamb:
        return lamb(g, t, step.learning_rate);
      case OptimizerKind::kLars:
        return lars(g, step.learning_rate);
      case OptimizerKind::kAdafactor:
        return adafactor(g, t, step.learning_rate);
      default:
        return muon(g, step.learning_rate);
    }
  }

  std::vector<double> p;

 private:
  void lamb(const std::vector<double>& g, double t, double rate) {
    std::vector<double> r(p.size());
    const auto [b1, b2] = *settings_.betas;
    for (std::size_t i = 0; i < p.size(); ++i) {
      m_[i] = b1 * m_[i] + (1 - b1) * g[i];
      v_[i] = b2 * v_[i] + (1 - b2) * g[i] * g[i];
      r[i] = m_[i] / (1 - std::pow(b1, t)) / (std::sqrt(v_[i] / (1 - std::pow(b2, t))) + *settings_.eps) +
             settings_.weight_decay * p[i];
    }
    const bool adapts = shape_.size() >= 2 && norm(p) > 0 && norm(r) > 0;
    const double phi = adapts ? norm(p) / norm(r) : 1;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] -= rate * phi * r[i];
  }

  void lars(const std::vector<double>& g, double rate) {
    const double decay = settings_.weight_decay, mu = *settings_.momentum;
    const bool adapts = shape_.size() >= 2 && norm(p) > 0 && norm(g) > 0;
    const double phi =
        adapts ? settings_.trust_coefficient * norm(p) / (norm(g) + decay * norm(p) + *settings_.eps) : 1;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double d = phi * (g[i] + decay * p[i]);
      m_[i] = mu * m_[i] + d;
      p[i] -= rate * (*settings_.nesterov ? d + mu * m_[i] : m_[i]);
    }
  }

  // The means of g² over rows are kept for every element, likewise those over columns.
  void adafactor(const std::vector<double>& g, double t, double rate) {
    const double part = std::pow(t, settings_.beta2_decay);
    const double q = std::max(settings_.eps2, root_mean_square(p));
    const std::size_t columns = shape_.size() < 2 ? 1 : shape_.back();
    const std::size_t rows = shape_.size() < 2 ? 1 : shape_[shape_.size() - 2];
    std::vector<double> u(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      const std::size_t matrix = i / (rows * columns) * rows * columns, j = i % columns;
      const std::size_t row = i / columns * columns;
      double of_row = 0, of_column = 0;
      for (std::size_t k = 0; k < columns; ++k) of_row += g[row + k] * g[row + k];
      for (std::size_t k = 0; k < rows; ++k) of_column += std::pow(g[matrix + k * columns + j], 2);
      rows_[i] += part * (of_row / static_cast<double>(columns) - rows_[i]);
      columns_[i] += part * (of_column / static_cast<double>(rows) - columns_[i]);
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
      const std::size_t matrix = i / (rows * columns) * rows * columns;
      double mean = 0;
      for (std::size_t k = 0; k < rows; ++k) {
        mean += rows_[matrix + k * columns] / static_cast<double>(rows);
      }
      const double v = shape_.size() < 2 ? rows_[i] : rows_[i] * columns_[i] / std::max(mean, *settings_.eps);
      u[i] = g[i] / std::max(std::sqrt(v), *settings_.eps);
    }
    const double scale =
        std::min(rate, 1 / std::sqrt(t)) * q / std::max(1.0, root_mean_square(u) / settings_.d);
    for (std::size_t i = 0; i < p.size(); ++i) {
      p[i] -= rate * settings_.weight_decay * p[i];
      p[i] -= scale * u[i];
    }
  }

  void muon(const std::vector<double>& g, double rate) {
    const double mu = *settings_.momentum;
    std::vector<double> x(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      m_[i] += (1 - mu) * (g[i] - m_[i]);
      x[i] = *settings_.nesterov ? g[i] + mu * (m_[i] - g[i]) : m_[i];
    }
    const std::size_t rows = shape_.front();
    const double length = std::max(norm(x), *settings_.eps);
    for (double& each : x) each /= length;
    for (int step = 0; step < settings_.ns_steps; ++step) x = iterated(x, rows);
    const auto high = static_cast<double>(rows), wide = static_cast<double>(p.size()) / high;
    const double s = settings_.match_rms_adamw ? 0.2 * std::sqrt(std::max(high, wide))
                                               : std::sqrt(std::max(1.0, high / wide));
    for (std::size_t i = 0; i < p.size(); ++i) {
      p[i] -= rate * settings_.weight_decay * p[i];
      p[i] -= rate * s * x[i];
    }
  }

  // aX + bAX + cA²X, whatever the shape of X: as (XXᵀ)ᵏX = X(XᵀX)ᵏ.
  std::vector<double> iterated(const std::vector<double>& x, std::size_t rows) const {
    const std::vector<double> gram = product(x, transposed(x, rows), x.size() / rows);
    const std::vector<double> ax = product(gram, x, rows), aax = product(gram, ax, rows);
    const std::vector<double>& c = settings_.ns_coefficients;
    std::vector<double> next(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) next[i] = c[0] * x[i] + c[1] * ax[i] + c[2] * aax[i];
    return next;
  }

  const OptimizerSettings settings_;
  const Shape shape_;
  std::vector<double> m_, v_, rows_, columns_;
};

class TensorOptimizer : public testing::TestWithParam<OptimizerCase> {};
INSTANTIATE_TEST_SUITE_P(, TensorOptimizer, testing::ValuesIn(tensor_optimizers()), case_name);

bool is_for(const OptimizerSettings& settings, const Shape& shape) {
  return settings.kind != OptimizerKind::kMuon || shape.size() >= 2;
}

// Each step rounds fewer than 16 times, numbers below 16 by half a unit of 2^-23. Muon multiplies the error
// of a small singular value by a in each iteration.
double tolerance(const OptimizerSettings& settings, int steps) {
  if (settings.kind != OptimizerKind::kMuon) return steps * 16 * 16 * 0x1p-24;
  const OptimizerSettings whole = with_defaults(settings);
  return 16 * std::pow(whole.ns_coefficients[0], whole.ns_steps) * 16 * 0x1p-24;
}

void expect_the_formula_of_tensors(OptimizerSettings settings, const UpdateStep& like, std::size_t piece) {
  constexpr int kSteps = 100;
  for (const Shape& shape : awkward_shapes()) {
    if (!is_for(settings, shape)) continue;
    TensorArrays tensor(settings, shape, 19);
    TensorReference reference(settings, shape, tensor.arrays);
    for (int i = 1; i <= kSteps; ++i) {
      UpdateStep step = like;
      step.count = i;
      step.learning_rate = 0.1 / i;
      tensor.new_gradients(static_cast<std::uint64_t>(i));
      tensor.apply(step, piece);
      if (!reference.p.empty()) reference.apply(step, tensor.arrays.gradients);
    }
    for (std::size_t k = 0; k < reference.p.size(); ++k) {
      ASSERT_NEAR(tensor.arrays.parameters[k], reference.p[k], tolerance(settings, kSteps))
          << name(settings.kind) << ", element " << k << " of " << reference.p.size() << ", " << shape.size()
          << " dimensions";
    }
  }
}

TEST_P(TensorOptimizer, FollowsItsFormulaForAHundredSteps) {
  expect_the_formula_of_tensors(GetParam().settings, {}, 1 << 20);
}

TEST_P(TensorOptimizer, FollowsItsFormulaWithOtherSettingsAndCuts) {
  OptimizerSettings settings = GetParam().settings;
  settings.weight_decay = 0.25;
  settings.eps = 0.01;
  if (with_defaults(settings).betas) settings.betas = {0.3, 0.9};
  expect_the_formula_of_tensors(settings, {.gradient_scale = 0.5, .clip_value = 0.25}, 48);
}

TEST_P(TensorOptimizer, GivesTheSameBitsHoweverItIsCut) {
  OptimizerSettings settings = GetParam().settings;
  settings.weight_decay = 0.01;
  const Shape shape = {61, 53};
  const auto trained = [&](std::size_t piece) {
    TensorArrays tensor(settings, shape, 5);
    for (int i = 1; i <= 3; ++i) {
      tensor.new_gradients(static_cast<std::uint64_t>(i));
      tensor.apply({.count = i, .learning_rate = 0.1, .gradient_scale = 0.3, .clip_value = 0.2}, piece);
    }
    return tensor;
  };
  const TensorArrays whole = trained(1 << 20);
  for (const std::size_t piece : {16u, 48u, 1008u, 2064u, 3232u}) {
    EXPECT_TRUE(trained(piece) == whole) << "pieces of " << piece;
  }
}

TEST_P(TensorOptimizer, UpdatesAMasterAsItUpdatesParameters) {
  const Shape shape = {19, 7};
  const UpdateStep step{.count = 1, .learning_rate = 0.25};
  Arrays wide(GetParam().settings, 19 * 7, 3), narrow = wide;
  std::vector<float> master = narrow.parameters, directions = wide.gradients, same = wide.gradients;
  std::vector<std::uint16_t> rounded(master.size());
  TensorSums sums, of_master;
  UpdateSpans spans = wide.spans(), with_master = narrow.spans();
  spans.directions = directions.data();
  with_master.directions = same.data();
  with_master.parameters = {reinterpret_cast<std::byte*>(rounded.data()), rounded.size(), DType::kBF16};
  with_master.master = master.data();
  first_pass(GetParam().settings, step, spans, &sums);
  first_pass(GetParam().settings, step, with_master, &of_master);
  EXPECT_EQ(directions, same);
  EXPECT_EQ(sums.parameters.value(), of_master.parameters.value());
  EXPECT_EQ(master, wide.parameters) << "the first pass leaves masters alone";
  spans.gradients = directions;
  with_master.gradients = same;
  apply(GetParam().settings, step, spans);
  apply(GetParam().settings, step, with_master);
  EXPECT_EQ(master, wide.parameters);
  EXPECT_NE(rounded, std::vector<std::uint16_t>(master.size()));
}

TEST(TwoPasses, FactorIsOneWhereANormIsZero) {
  for (const OptimizerKind kind : {OptimizerKind::kLamb, OptimizerKind::kLars}) {
    TensorSums sums;
    EXPECT_EQ(tensor_factor({.kind = kind}, {2, 2}, sums), 1);
    sums.parameters.add(4);
    EXPECT_EQ(tensor_factor({.kind = kind}, {2, 2}, sums), 1);
    sums.directions.add(1);
    EXPECT_NE(tensor_factor({.kind = kind}, {2, 2}, sums), 1);
    EXPECT_EQ(tensor_factor({.kind = kind}, {4}, sums), 1);
  }
}

TEST(TwoPasses, MuonLeavesVectorsToTheFallback) {
  OptimizerSettings muon{.kind = OptimizerKind::kMuon,
                         .learning_rate = 0.02,
                         .weight_decay = 0.1,
                         .fallback_betas = std::pair(0.8, 0.9)};
  EXPECT_EQ(optimizer_for(muon, {3, 3}), muon);
  const OptimizerSettings fallback = optimizer_for(muon, {3});
  EXPECT_EQ(fallback.kind, OptimizerKind::kAdamW);
  EXPECT_EQ(fallback.learning_rate, 0.02);
  EXPECT_EQ(fallback.betas, std::pair(0.8, 0.9));
  EXPECT_EQ(fallback.eps, 1e-8);
  EXPECT_EQ(fallback.weight_decay, 0.1);
  EXPECT_TRUE(check_settings(fallback).has_value());
  muon.fallback_learning_rate = 0.003;
  EXPECT_EQ(optimizer_for(muon, {}).learning_rate, 0.003);
  EXPECT_EQ(optimizer_for({.kind = OptimizerKind::kLamb}, {3}).kind, OptimizerKind::kLamb);
}

TEST(TwoPasses, NeedsAreThoseOfTheTable) {
  using update::Needs;
  const auto needs = [](OptimizerKind kind, const Shape& shape) {
    return update::needs_of({.kind = kind}, shape);
  };
  EXPECT_EQ(needs(OptimizerKind::kAdam, {2, 2}), Needs::kElements);
  EXPECT_EQ(needs(OptimizerKind::kLamb, {2, 2}), Needs::kTensorNorms);
  EXPECT_EQ(needs(OptimizerKind::kLamb, {4}), Needs::kElements);
  EXPECT_EQ(needs(OptimizerKind::kMuon, {2, 2}), Needs::kWholeTensors);
  EXPECT_EQ(needs(OptimizerKind::kAdafactor, {4}), Needs::kNormsAndWholeTensors);
  for (const OptimizerCase& each : all_optimizers()) EXPECT_FALSE(update::has_two_passes(each.settings));
  for (const OptimizerCase& each : tensor_optimizers()) EXPECT_TRUE(update::has_two_passes(each.settings));
}

}  // namespace
}  // namespace cohort
