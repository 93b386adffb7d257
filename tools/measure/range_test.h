#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cohort::measure {

/// One step of a learning-rate range test.
struct RangePoint {
  double learning_rate = 0;
  double loss = 0;
  double smoothed = 0;  ///< the running mean of the losses so far
};

/// The losses of a learning-rate range test: a training whose learning rate grows by the same factor in every
/// step, to see from which rate on the loss falls, and from which on it diverges.
///
/// Losses are smoothed as s = 0.9 s + 0.1 loss, from s = 0, and divided by 1 - 0.9ⁿ after n losses.
///
/// Threads: one at a time.
class RangeTest {
 public:
  /// Adds the loss of a step. False if the test is over: the loss is not finite, and is left out, or the
  /// smoothed loss is more than four times the lowest one.
  bool add(double learning_rate, double loss);

  const std::vector<RangePoint>& points() const { return points_; }
  bool has_diverged() const { return has_diverged_; }
  /// The rate at which the smoothed loss falls fastest over the logarithm of the rate, before its minimum;
  /// nothing if it does not fall there.
  std::optional<double> steepest() const;
  /// A tenth of the rate at which the smoothed loss is lowest; nothing if that is the first or the last
  /// point, so that no minimum was seen.
  std::optional<double> tenth_of_minimum() const;

 private:
  std::size_t lowest() const;

  std::vector<RangePoint> points_;
  double sum_ = 0;     // of the losses with their weights
  double weight_ = 0;  // of all losses
  bool has_diverged_ = false;
};

}  // namespace cohort::measure
