#include "data/standardise.h"

#include <cmath>

namespace cohort::data {
namespace {

template <class T>
Scale scale(std::span<const T> numbers, std::size_t stride) {
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

}  // namespace

Scale scale_of(std::span<const unsigned char> bytes) {
  return scale(bytes, 1);
}

Scale scale_of(std::span<const float> numbers, std::size_t stride) {
  return scale(numbers, stride);
}

}  // namespace cohort::data
