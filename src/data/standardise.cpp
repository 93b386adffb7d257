#include "data/standardise.h"

#include <cmath>

namespace cohort::data {

Scale scale_of(std::span<const float> numbers, std::size_t stride) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < numbers.size(); i += stride, ++count) sum += static_cast<double>(numbers[i]);
  if (count == 0) return {};
  const double mean = sum / count;
  double square_sum = 0;
  for (std::size_t i = 0; i < numbers.size(); i += stride) {
    const double distance = static_cast<double>(numbers[i]) - mean;
    square_sum += distance * distance;
  }
  const double deviation = std::sqrt(square_sum / count);
  return {mean, deviation > 0 ? deviation : 1};
}

}  // namespace cohort::data
