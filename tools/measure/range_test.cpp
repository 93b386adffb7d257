#include "measure/range_test.h"

#include <algorithm>
#include <cmath>

namespace cohort::measure {
namespace {

constexpr double kKept = 0.9;
constexpr double kDivergence = 4;

}  // namespace

bool RangeTest::add(double learning_rate, double loss) {
  if (has_diverged_) return false;
  if (!std::isfinite(loss)) {
    has_diverged_ = true;
    return false;
  }
  sum_ = kKept * sum_ + (1 - kKept) * loss;
  weight_ = kKept * weight_ + (1 - kKept);
  points_.push_back({learning_rate, loss, sum_ / weight_});
  has_diverged_ = points_.back().smoothed > kDivergence * points_[lowest()].smoothed;
  return !has_diverged_;
}

std::size_t RangeTest::lowest() const {
  const auto found = std::min_element(points_.begin(), points_.end(),
                                      [](const auto& a, const auto& b) { return a.smoothed < b.smoothed; });
  return static_cast<std::size_t>(found - points_.begin());
}

std::optional<double> RangeTest::steepest() const {
  std::optional<double> rate;
  double least = 0;
  for (std::size_t i = 1; i < lowest(); ++i) {
    const RangePoint &before = points_[i - 1], &after = points_[i + 1];
    const double slope =
        (after.smoothed - before.smoothed) / std::log(after.learning_rate / before.learning_rate);
    if (slope >= least) continue;
    least = slope;
    rate = points_[i].learning_rate;
  }
  return rate;
}

std::optional<double> RangeTest::tenth_of_minimum() const {
  const std::size_t at = lowest();
  if (at == 0 || at + 1 >= points_.size()) return std::nullopt;
  return points_[at].learning_rate / 10;
}

}  // namespace cohort::measure
