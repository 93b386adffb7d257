#pragma once

#include "data/batch_first.h"
#include "data/generated.h"

namespace cohort::data {

/// A linear law with noise: inputs are normal f32 [features], the target is f32 [1], weights · input + bias +
/// noise.
class RegressionDataset final : public BatchFirst {
 public:
  RegressionDataset(GeneratedRange range, int features, double noise);

  std::int64_t size() const override { return range_.count; }
  /// What a model should find; a function of the seed alone.
  const std::vector<double>& weights() const { return weights_; }
  double bias() const { return bias_; }

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t at, const Batch& into) const override;

  const GeneratedRange range_;
  const double noise_;
  std::vector<double> weights_;
  double bias_;
};

}  // namespace cohort::data
