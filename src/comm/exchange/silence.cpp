#include "comm/exchange/silence.h"

#include "base/check.h"
#include <cohort/default_limit.h>

#include <algorithm>

namespace cohort::comm {

namespace {

constexpr std::chrono::nanoseconds kLongestInterval = std::chrono::milliseconds(250);
// With a longer limit members are watched in another way, and need not be asked.
constexpr std::chrono::nanoseconds kLongestLimit = std::chrono::hours(1);

std::chrono::nanoseconds interval_for(std::chrono::nanoseconds limit) {
  const auto interval = std::max(limit / Silence::kFewestTicks, std::chrono::nanoseconds(1));
  return limit > kLongestLimit ? interval : std::min(interval, kLongestInterval);
}

}  // namespace

Silence::Silence(int num_members, std::chrono::nanoseconds limit)
    : interval_(interval_for(limit)),
      ticks_(static_cast<int>(std::clamp<std::int64_t>(limit / interval_, kFewestTicks, 1 << 30))),
      silent_(static_cast<std::size_t>(num_members)) {}

void Silence::start(TimePoint now) {
  if (num_watchers_++ > 0) return;
  // The first question is asked at once.
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

bool Silence::is_getting_long(int member) const {
  const std::int64_t ticks = 1 + DefaultLimit::kSilence / interval_;
  return ticks < ticks_ && silent_[static_cast<std::size_t>(member)] == ticks;
}

}  // namespace cohort::comm
