#pragma once

#include "base/clock.h"

#include <chrono>
#include <vector>

namespace cohort::comm {

/// Counts for how many ticks each member has been silent. A pause of this process counts as one tick, however
/// long it was, so that a pause of the whole machine is not taken for the death of a member.
///
/// Threads: one at a time.
class Silence {
 public:
  /// A member is dead after at least this many ticks in a row without a sign of life.
  static constexpr int kFewestTicks = 10;

  Silence(int num_members, std::chrono::nanoseconds limit);

  /// Calls are counted: ticks pass until every start() has been matched by a stop().
  void start(TimePoint now);
  void stop();
  bool is_watched() const { return num_watchers_ > 0; }

  void heard(int member) { silent_[static_cast<std::size_t>(member)] = 0; }
  /// True if a tick has passed; it is then counted for every member.
  bool tick(TimePoint now);
  bool is_dead(int member) const { return silent_[static_cast<std::size_t>(member)] >= ticks_; }
  /// True in the tick in which a member that is not dead has been silent for DefaultLimit::kSilence.
  bool is_getting_long(int member) const;
  TimePoint next_tick() const { return is_watched() ? next_ : TimePoint::max(); }

 private:
  const std::chrono::nanoseconds interval_;
  const int ticks_;  // until a silent member is dead
  int num_watchers_ = 0;
  TimePoint next_ = TimePoint::max();
  std::vector<int> silent_;
};

}  // namespace cohort::comm
