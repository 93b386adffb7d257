#pragma once

#include <cstdint>
#include <span>

namespace cohort::data {

/// Shifts and scales numbers: (x - mean) / deviation.
struct Scale {
  double mean = 0;
  double deviation = 1;

  float operator()(double x) const { return static_cast<float>((x - mean) / deviation); }
};

/// The scale that gives every `stride`-th number, beginning with the first, mean 0 and deviation 1. Its
/// deviation is 1 if all of them are equal or there are none.
Scale scale_of(std::span<const float> numbers, std::size_t stride = 1);

}  // namespace cohort::data
