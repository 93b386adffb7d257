#pragma once

#include <vector>

namespace cohort::measure {

/// Percentiles of the samples of one cell in nanoseconds; each percentile is one of the samples (nearest
/// rank).
struct Summary {
  std::size_t count = 0;
  double best_ns = 0;
  double p10_ns = 0;  ///< the figure that is compared: the best 10 % are faster
  double p50_ns = 0;
  double p95_ns = 0;
  double p99_ns = 0;
};

/// Requires at least one sample.
Summary summarize(std::vector<double> samples_ns);

/// The smallest sample that at least `percent` of all samples do not exceed. `sorted` must not be empty.
double percentile(const std::vector<double>& sorted, double percent);

}  // namespace cohort::measure
