#include "layout/slots.h"

#include "base/check.h"

#include <cstdint>
#include <numeric>

namespace cohort {

std::vector<int> deal(int slots, int world, int rank) {
  COHORT_CHECK_GE(slots, 0);
  COHORT_CHECK(rank >= 0 && rank < world, "rank {} of {}", rank, world);
  const auto cut = [&](std::int64_t at) { return static_cast<int>(slots * at / world); };
  std::vector<int> mine(static_cast<std::size_t>(cut(rank + 1) - cut(rank)));
  std::iota(mine.begin(), mine.end(), cut(rank));
  return mine;
}

}  // namespace cohort
