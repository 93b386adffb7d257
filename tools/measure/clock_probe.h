#pragma once

#include "base/clock.h"
#include "comm/group/communicator.h"

#include <chrono>

namespace cohort::measure {

/// The difference between the wall clocks of two ranks.
struct ClockOffset {
  std::chrono::nanoseconds offset{};  ///< wall clock of the higher rank minus that of the lower
  std::chrono::nanoseconds error{};   ///< the true offset is within ± error

  bool operator==(const ClockOffset&) const = default;
};

struct ClockProbeOptions {
  int trips = 16;
  std::chrono::nanoseconds limit = std::chrono::seconds(20);  ///< timeout of the whole measurement
  const Clock* clock = nullptr;                               ///< null: the clock of this machine
};

/// Compares the wall clocks of two ranks: both call this at the same time, with the same options, and get the
/// same offset. The lower rank asks for the time `trips` times; the answer with the shortest round trip
/// counts, and half of that round trip is the error.
///
/// Failure: an error of a call, which sticks to the group; kUsage unless `peer` is another rank of the group.
/// Cost: `trips` round trips.
Result<ClockOffset> probe_clock(Communicator& group, int peer, const ClockProbeOptions& options);

}  // namespace cohort::measure
