#pragma once

#include "base/clock.h"

#include <chrono>
#include <vector>

namespace cohort::comm {

/// Counts how long each member has been silent, in ticks of our own: however long we were paused ourselves,
/// that is one tick. So a pause of the whole machine is not taken for the death of a member.
///
/// Threads: one at a time.
class Silence {
 public:
  /// Ticks of the limit: a member is dead after this many in a row without a sign of life.
  static constexpr int kTicks = 10;

  Silence(int num_members, std::chrono::nanoseconds limit);

  /// Counted: somebody watches until each start() had its stop().
  void start(TimePoint now);
  void stop();
  bool is_watched() const { return num_watchers_ > 0; }

  void heard(int member) { silent_[static_cast<std::size_t>(member)] = 0; }
  /// True if a tick has passed, which is counted for every member.
  bool tick(TimePoint now);
  bool is_dead(int member) const { return silent_[static_cast<std::size_t>(member)] > kTicks; }
  TimePoint next_tick() const { return is_watched() ? next_ : TimePoint::max(); }

 private:
  const std::chrono::nanoseconds interval_;
  int num_watchers_ = 0;
  TimePoint next_ = TimePoint::max();
  std::vector<int> silent_;
};

}  // namespace cohort::comm
