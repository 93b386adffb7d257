#pragma once

#include <cstdint>
#include <span>

namespace cohort::data {

/// How numbers are shifted and scaled: (x - mean) / deviation.
struct Scale {
  double mean = 0;
  double deviation = 1;

  float operator()(double x) const { return static_cast<float>((x - mean) / deviation); }
};

/// The scale that gives these bytes mean 0 and deviation 1; deviation 1 where all are equal or there are
/// none.
Scale scale_of(std::span<const unsigned char> bytes);
/// The same of every `stride`-th number, from the first on.
Scale scale_of(std::span<const float> numbers, std::size_t stride = 1);

}  // namespace cohort::data
