#pragma once

#include <cstdint>

namespace cohort::data {

/// The samples of a generator that a data set consists of. A sample is a pure function of (seed, number).
struct GeneratedRange {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::int64_t count = 0;
};

/// The number of the first test sample: larger than the number of any training sample.
inline constexpr std::uint64_t kFirstTestSample = std::uint64_t{1} << 40;

}  // namespace cohort::data
