#pragma once

#include "spans.h"
#include "update/two_passes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cohort {

inline double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double each : values) sum += each * each;
  return std::sqrt(sum);
}

inline double root_mean_square(const std::vector<double>& values) {
  return norm(values) / std::sqrt(static_cast<double>(values.size()));
}

// A matrix product, straight from its definition.
inline std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b,
                                   std::size_t inner) {
  const std::size_t rows = a.size() / inner, columns = b.size() / inner;
  std::vector<double> c(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t k = 0; k < inner; ++k) c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    }
  }
  return c;
}

inline std::vector<double> transposed(const std::vector<double>& a, std::size_t rows) {
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

}  // namespace cohort
