#pragma once

#include "base/clock.h"
#include "comm/communicator.h"

#include <chrono>
#include <cstdint>

namespace cohort::comm {

/// Messages between two ranks of a group that find out about the way between them: a tag of their own, one
/// deadline for all, and the clock they go by.
///
/// Threads: one.
/// Lifetime: the group and the clock must outlive it.
/// Failure: that of the call, which sticks to the group.
class ProbeLine {
 public:
  struct Options {
    std::uint32_t tag = 0;
    std::chrono::nanoseconds limit{};  ///< from now on, for everything that is said
    const Clock* clock = nullptr;      ///< none: that of this machine
  };
  ProbeLine(Communicator& group, int peer, const Options& options)
      : group_(group),
        peer_(peer),
        tag_(options.tag),
        clock_(options.clock != nullptr ? *options.clock : own_clock_),
        deadline_(deadline_after(clock_.now(), options.limit)) {}
  ProbeLine(const ProbeLine&) = delete;
  ProbeLine& operator=(const ProbeLine&) = delete;

  Status say(ConstNumbers numbers) {
    return group_.run(cohort::send(numbers, peer_, tag_).within(time_left()));
  }
  Status hear(Numbers numbers) {
    return group_.run(cohort::receive(numbers, peer_, tag_).within(time_left()));
  }

  const Clock& clock() const { return clock_; }
  bool is_lower() const { return group_.rank() < peer_; }

 private:
  // A call has some time even when the line has none: it says best who did not come.
  std::chrono::nanoseconds time_left() const {
    return std::max<std::chrono::nanoseconds>(deadline_ - clock_.now(), std::chrono::milliseconds(1));
  }

  Communicator& group_;
  const int peer_;
  const std::uint32_t tag_;
  const RealClock own_clock_{};
  const Clock& clock_;
  const TimePoint deadline_;
};

/// kUsage unless `peer` is another rank of the group.
Status check_peer(const Communicator& group, int peer);

}  // namespace cohort::comm
