#pragma once

#include <ATen/core/Tensor.h>
#include <optional>

namespace cohort::nn {

/// A layer of Cohort with running statistics of batch normalisation, for code that computes them anew.
class RunningStatistics {
 public:
  virtual ~RunningStatistics() = default;
  virtual at::Tensor running_mean() const = 0;
  virtual at::Tensor running_var() const = 0;
  /// The share of a batch in the running statistics; nullopt: that of the layer.
  virtual void set_momentum(std::optional<double> momentum) = 0;
};

}  // namespace cohort::nn
