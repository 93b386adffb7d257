#pragma once

#include "base/result.h"
#include "launch/environment.h"

#include <chrono>
#include <functional>
#include <string>

namespace cohort::tool {

/// Which ways are measured at the same time. By itself, a way shows what it can do; disjoint pairs share
/// switches, and slow each other down where those cannot carry them all.
enum class PairsAtOnce { kOne, kDisjoint };

struct LinkMeasuring {
  PairsAtOnce pairs = PairsAtOnce::kOne;
  std::chrono::nanoseconds time = std::chrono::milliseconds(500);   ///< for each direction of each pair
  std::chrono::nanoseconds pair_limit = std::chrono::seconds(5);    ///< for two ranks to reach each other
  std::chrono::nanoseconds start_limit = std::chrono::seconds(60);  ///< for all ranks to come
};

/// The longest that measure_links() may take for so many ranks.
std::chrono::nanoseconds longest_measuring(int ranks, const LinkMeasuring& measuring);

/// One rank's part in measuring the ways between all of them, and their clocks against that of rank 0. Each
/// pair has a world of its own, so that one that cannot talk leaves the others alone. `say` gets what this
/// rank found out, as lines of link_lines.h.
///
/// Failure: that ranks could not meet; a pair that cannot talk is no failure, but said.
Status measure_links(const LaunchFacts& facts, const LinkMeasuring& measuring,
                     const std::function<void(const std::string& line)>& say);

}  // namespace cohort::tool
