#pragma once

#include "base/clock.h"
#include "comm/group/communicator.h"

#include <chrono>
#include <cstdint>
#include <fmt/format.h>

namespace cohort::comm {

/// Messages between two ranks of a group that measure the link between them, with a tag of their own, one
/// deadline for all messages, and a clock.
///
/// Threads: one.
/// Lifetime: the group and the clock must outlive it.
/// Failure: the error of the call, which sticks to the group.
class ProbeLine {
 public:
  struct Options {
    std::uint32_t tag = 0;
    std::chrono::nanoseconds limit{};  ///< timeout of all messages together
    const Clock* clock = nullptr;      ///< null: the clock of this machine
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
  Status hear(Numbers numbers) { return group_.run(cohort::recv(numbers, peer_, tag_).within(time_left())); }

  const Clock& clock() const { return clock_; }
  bool is_lower() const { return group_.rank() < peer_; }

 private:
  // A call gets some time even after the deadline: its error names the rank that did not arrive.
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
inline Status check_peer(const Communicator& group, int peer) {
  if (peer >= 0 && peer < group.size() && peer != group.rank()) return {};
  return Error(ErrorCode::kUsage, fmt::format("rank {} of {} cannot measure the link to rank {}",
                                              group.rank(), group.size(), peer))
      .with_remedy("Name another rank of the group.");
}

}  // namespace cohort::comm
