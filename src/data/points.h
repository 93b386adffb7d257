#pragma once

#include "data/batch_first.h"
#include "data/generated.h"

#include <vector>

// Generators of points and numbers.

namespace cohort::data {

/// Points on the arms of a spiral, one arm per class, all arms within the unit circle: f32 [2] and the class.
/// `noise` is the standard deviation of the normal noise in both directions.
class SpiralsDataset final : public BatchFirst {
 public:
  SpiralsDataset(GeneratedRange range, int classes, double noise);

  std::int64_t size() const override { return range_.count; }

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t row, const Batch& into) const override;

  const GeneratedRange range_;
  const int classes_;
  const double noise_;
};

/// A linear function with noise: inputs are normal, f32 [features]; the target, f32 [1], is weights · input +
/// bias + noise.
class RegressionDataset final : public BatchFirst {
 public:
  RegressionDataset(GeneratedRange range, int features, double noise);

  std::int64_t size() const override { return range_.count; }
  /// The parameters that a model should find; a function of the seed alone.
  const std::vector<double>& weights() const { return weights_; }
  double bias() const { return bias_; }

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t row, const Batch& into) const override;

  const GeneratedRange range_;
  const double noise_;
  std::vector<double> weights_;
  double bias_;
};

struct CirclePoint {
  double x = 1;
  double y = 0;
};

/// The point of the unit circle after `turns` turns from (1, 0). Cosine and sine are computed by IEEE
/// additions and products alone, so that no mathematical library can change their bits; the error is below
/// 1e-15.
CirclePoint unit_circle(double turns);

}  // namespace cohort::data
