#pragma once

#include <vector>

namespace cohort::measure {

/// Samples of one cell, in order of size: each percentile is a sample that was seen (nearest rank), in
/// nanoseconds.
struct Summary {
  std::size_t count = 0;
  double best_ns = 0;
  double p10_ns = 0;  ///< the limit of the best decile: what is compared
  double p50_ns = 0;
  double p95_ns = 0;
  double p99_ns = 0;
};

/// Needs at least one sample.
Summary summarize(std::vector<double> samples_ns);

/// The smallest sample that at least `percent` of all samples do not exceed. `sorted` is not empty.
double percentile(const std::vector<double>& sorted, double percent);

}  // namespace cohort::measure
