#include "measure/statistics.h"

#include "base/check.h"

#include <algorithm>
#include <cmath>

namespace cohort::measure {

double percentile(const std::vector<double>& sorted, double percent) {
  COHORT_CHECK(!sorted.empty());
  const double rank = std::ceil(percent * static_cast<double>(sorted.size()) / 100.0);
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

Summary summarize(std::vector<double> samples_ns) {
  std::sort(samples_ns.begin(), samples_ns.end());
  return {.count = samples_ns.size(),
          .best_ns = percentile(samples_ns, 0),
          .p10_ns = percentile(samples_ns, 10),
          .p50_ns = percentile(samples_ns, 50),
          .p95_ns = percentile(samples_ns, 95),
          .p99_ns = percentile(samples_ns, 99)};
}

}  // namespace cohort::measure
