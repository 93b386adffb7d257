#pragma once

#include "nn/statistics_exchange.h"

#include <ATen/core/Tensor.h>
#include <memory>

namespace cohort::nn {

/// Running mean and variance, and the share of a new batch in them.
struct RunningStatistics {
  at::Tensor mean{};  ///< undefined: none are kept
  at::Tensor variance{};
  double momentum = 0;
};

/// A batch normalisation over the ranks of an exchange.
struct NormOrder {
  std::shared_ptr<StatisticsExchange> exchange{};
  double eps = 1e-5;
  RunningStatistics running{};
};

/// The input, normalised per channel by mean and variance over the batches of all ranks; differentiable by
/// input, weight and bias, which may be undefined. Updates the running statistics.
///
/// Failure: throws UsageError if all ranks together have a single value per channel, or for a type that is no
/// float.
at::Tensor normalised_over_ranks(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                                 const NormOrder& order);

}  // namespace cohort::nn
