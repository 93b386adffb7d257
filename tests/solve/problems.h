#pragma once

#include "solve/minimize.h"

#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <span>
#include <vector>

namespace cohort::test {

/// A function of vectors, with its gradient.
using Function = std::function<double(std::span<const double> x, std::span<double> gradient)>;

/// ½ Σ (i + 1) (xᵢ − i)²: its minimum is at xᵢ = i.
inline double quadratic(std::span<const double> x, std::span<double> gradient) {
  double value = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double away = x[i] - static_cast<double>(i);
    const auto curvature = static_cast<double>(i + 1);
    value += curvature * away * away / 2;
    gradient[i] = curvature * away;
  }
  return value;
}

/// Rosenbrock's function: a bent valley, its minimum 0 is at 1, 1, 1, …
inline double rosenbrock(std::span<const double> x, std::span<double> gradient) {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  double value = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double off = x[i + 1] - x[i] * x[i], rest = 1 - x[i];
    value += 100 * off * off + rest * rest;
    gradient[i] += -400 * off * x[i] - 2 * rest;
    gradient[i + 1] += 200 * off;
  }
  return value;
}

/// Points of two classes, −1 and 1, which no plane separates.
struct Samples {
  Samples(std::size_t num_samples, std::size_t num_features) : features(num_features) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    for (std::size_t n = 0; n < num_samples; ++n) {
      double sum = 0;
      for (std::size_t f = 0; f < features; ++f) {
        inputs.push_back(normal(random) * (f % 5 == 0 ? 3 : 1));
        sum += inputs.back() * (f % 3 == 0 ? 1 : -0.25);
      }
      classes.push_back(sum + 2 * normal(random) > 0 ? 1 : -1);
    }
  }
  std::size_t size() const { return classes.size(); }

  std::size_t features;
  std::vector<double> inputs{};
  std::vector<double> classes{};
};

/// The sum of the logistic losses of samples first … last − 1; adds its gradient.
inline double logistic(const Samples& samples, std::size_t first, std::size_t last, std::span<const double> x,
                       std::span<double> gradient) {
  double value = 0;
  for (std::size_t n = first; n < last; ++n) {
    const double* const input = &samples.inputs[n * samples.features];
    double margin = 0;
    for (std::size_t f = 0; f < samples.features; ++f) margin += samples.classes[n] * input[f] * x[f];
    value += std::log1p(std::exp(-margin));
    const double slope = -samples.classes[n] / (1 + std::exp(margin));
    for (std::size_t f = 0; f < samples.features; ++f) gradient[f] += slope * input[f];
  }
  return value;
}

/// A function as a serial solver evaluates it, on vectors of f64.
inline solve::Problem on_one_rank(const Function& function) {
  return {.evaluate = [=](ConstNumbers point, Numbers gradient) -> Result<double> {
    return function({reinterpret_cast<const double*>(point.data), point.count},
                    {reinterpret_cast<double*>(gradient.data), gradient.count});
  }};
}

inline std::vector<double> values(ConstNumbers numbers) {
  const auto* const first = reinterpret_cast<const double*>(numbers.data);
  return {first, first + numbers.count};
}

}  // namespace cohort::test
