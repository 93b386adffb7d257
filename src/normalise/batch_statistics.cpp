#include "normalise/batch_statistics.h"

#include <cmath>

namespace cohort::normalise {
namespace {

double or_one(const std::vector<double>& factors, std::size_t channel) {
  return factors.empty() ? 1 : factors[channel];
}

}  // namespace

std::vector<double> Statistics::inverse_deviation(double eps) const {
  std::vector<double> all;
  all.reserve(variance.size());
  for (const double each : variance) all.push_back(1 / std::sqrt(each + eps));
  return all;
}

Statistics statistics_of(double count, std::span<const double> moments, std::span<const double> pivot) {
  const std::size_t channels = pivot.size();
  Statistics found{.count = count, .mean = std::vector<double>(channels), .variance{}};
  found.variance.resize(channels);
  if (count == 0) return found;
  for (std::size_t c = 0; c < channels; ++c) {
    const double shift = moments[c] / count;
    const double variance = moments[channels + c] / count - shift * shift;
    found.mean[c] = pivot[c] + shift;
    found.variance[c] = variance < 0 ? 0 : variance;  // a NaN stays
  }
  return found;
}

std::vector<double> output_factors(const Statistics& statistics, double eps, const Scaling& scaling) {
  const std::size_t channels = statistics.mean.size();
  const std::vector<double> inverse = statistics.inverse_deviation(eps);
  std::vector<double> factors(2 * channels);
  for (std::size_t c = 0; c < channels; ++c) {
    factors[c] = inverse[c] * or_one(scaling.weight, c);
    factors[channels + c] = (scaling.bias.empty() ? 0 : scaling.bias[c]) - statistics.mean[c] * factors[c];
  }
  return factors;
}

std::vector<double> gradient_factors(const Statistics& statistics, double eps, const Scaling& scaling,
                                     std::span<const double> products) {
  const std::size_t channels = statistics.mean.size();
  const std::vector<double> inverse = statistics.inverse_deviation(eps);
  std::vector<double> factors(3 * channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale = inverse[c] * or_one(scaling.weight, c);
    const double slope = -scale * inverse[c] * inverse[c] * products[channels + c] / statistics.count;
    factors[c] = scale;
    factors[channels + c] = slope;
    factors[2 * channels + c] = -scale * products[c] / statistics.count - slope * statistics.mean[c];
  }
  return factors;
}

}  // namespace cohort::normalise
