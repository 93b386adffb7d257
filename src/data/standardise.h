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

/// The scale that gives these bytes mean 0 and deviation 1. Its deviation is 1 if all bytes are equal or
/// there are no bytes.
Scale scale_of(std::span<const unsigned char> bytes);
/// The same for every `stride`-th number, beginning with the first.
Scale scale_of(std::span<const float> numbers, std::size_t stride = 1);

}  // namespace cohort::data
