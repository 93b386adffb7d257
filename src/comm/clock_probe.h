#pragma once

#include "base/clock.h"
#include "comm/communicator.h"

#include <chrono>

namespace cohort::comm {

/// How far the date of one host is from that of another.
struct ClockOffset {
  std::chrono::nanoseconds offset{};  ///< the date of the higher rank minus that of the lower
  std::chrono::nanoseconds error{};   ///< it may be off by so much, either way

  bool operator==(const ClockOffset&) const = default;
};

struct ClockProbeOptions {
  int trips = 16;
  std::chrono::nanoseconds limit = std::chrono::seconds(20);  ///< for the whole of it
  const Clock* clock = nullptr;                               ///< none: that of this machine
};

/// Compares the dates of two ranks: both call it at the same time, with the same options, and get the same
/// offset. The lower one asks for the date; of several answers the one with the shortest round trip counts,
/// and the date was told at some time during that trip.
///
/// Failure: that of a call, which sticks to the group; kUsage if `peer` is no other rank of it.
/// Cost: one round trip for each of `trips`.
Result<ClockOffset> probe_clock(Communicator& group, int peer, const ClockProbeOptions& options);

}  // namespace cohort::comm
