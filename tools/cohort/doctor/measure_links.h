#pragma once

#include "base/result.h"
#include "launch/environment.h"
#include "machine/cluster.h"

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cohort::tool {

/// The pairs that are measured at the same time. Alone, a pair shows what its link can do; disjoint pairs at
/// once share switches and show what these can carry.
enum class PairsAtOnce { kOne, kDisjoint };

struct LinkMeasuring {
  PairsAtOnce pairs = PairsAtOnce::kOne;
  std::vector<std::pair<int, int>> left_out{};  ///< pairs of ranks, the lower first, that are not measured
  std::chrono::nanoseconds time = std::chrono::milliseconds(500);   ///< for each direction of each pair
  std::chrono::nanoseconds pair_limit = std::chrono::seconds(5);    ///< for two ranks to reach each other
  std::chrono::nanoseconds start_limit = std::chrono::seconds(60);  ///< for all ranks to come
};

/// The longest time that measure_links() may take for `ranks` ranks.
std::chrono::nanoseconds longest_measuring(int ranks, const LinkMeasuring& measuring);

/// One rank's part in measuring the links between all ranks, and their clocks against that of rank 0. Each
/// pair has a world of its own, so that a pair that cannot communicate does not disturb others. `say`
/// receives the results of this rank as lines of link_line() and clock_line().
///
/// Failure: ranks could not meet. A pair that cannot communicate is a result, not a failure.
Status measure_links(const LaunchFacts& facts, const LinkMeasuring& measuring,
                     const std::function<void(const std::string& line)>& say);

// The messages of the ranks of `cohort doctor-links` to their launcher: lines of JSON, one fact each. There
// is one rank on each host; hosts are named by their ranks.

std::string link_line(const machine::LinkReport& link);
std::string clock_line(int rank, const machine::ClockReading& clock);

/// Adds the content of a line to the report. `hosts`: the index of the host of each rank. If two lines
/// are about the same link, a line with a cost wins over one without, then the first one. A line that is not
/// understood is skipped.
void take_line(std::string_view line, std::span<const int> hosts, machine::ClusterReport& report);

}  // namespace cohort::tool
