#include "comm/silence.h"

#include "base/check.h"

#include <algorithm>

namespace cohort::comm {

Silence::Silence(int num_members, std::chrono::nanoseconds limit)
    : interval_(std::max(limit / kTicks, std::chrono::nanoseconds(1))),
      silent_(static_cast<std::size_t>(num_members)) {}

void Silence::start(TimePoint now) {
  if (num_watchers_++ > 0) return;
  // The first question goes out at once.
  next_ = now;
  std::fill(silent_.begin(), silent_.end(), 0);
}

void Silence::stop() {
  COHORT_CHECK_GT(num_watchers_, 0);
  --num_watchers_;
}

bool Silence::tick(TimePoint now) {
  if (!is_watched() || now < next_) return false;
  next_ = deadline_after(now, interval_);
  for (int& ticks : silent_) ++ticks;
  return true;
}

}  // namespace cohort::comm
