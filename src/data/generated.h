#pragma once

#include <cstdint>

namespace cohort::data {

/// Which samples of a generator a data set has. A generator knows a sample for every number; each is a pure
/// function of (seed, number).
struct GeneratedRange {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::int64_t count = 0;
};

/// Where the samples begin that are tested on: far from those that are trained on, however many those are.
inline constexpr std::uint64_t kFirstTestSample = std::uint64_t{1} << 40;

}  // namespace cohort::data
