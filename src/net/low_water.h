#pragma once

#include "base/clock.h"

#include <cstddef>

namespace cohort::net {

/// How many bytes have to have come over a connection before it is said to be readable. Of a long payload
/// that comes at the speed of a network, packet by packet, it is not worth to read each.
///
/// Threads: one. Lifetime: the socket must outlive it.
/// Failure: a network that becomes slow is looked at by time.
/// Cost: a system call when the mark changes.
class LowWater {
 public:
  /// Fewer than this are not waited for.
  static constexpr std::size_t kLeast = std::size_t{4} << 10;
  static constexpr std::size_t kMost = std::size_t{64} << 10;

  explicit LowWater(int socket) : socket_(socket) {}

  /// Everything that has come was read, `got` bytes since the last time, and at least `num_left` follow.
  /// False if the mark has changed: look once more before you wait.
  bool settle(std::size_t got, std::size_t num_left, TimePoint now);
  /// When to look, readable or not.
  TimePoint look_at() const { return look_at_; }

  /// As many as come soon, at this speed, but not more than kMost.
  static double come_soon(std::size_t got, std::chrono::nanoseconds elapsed);
  /// A power of two, 1 for few, where so many come soon and so many at all.
  static std::size_t mark_for(double soon, std::size_t num_left);

 private:
  const int socket_;
  std::size_t mark_ = 1;
  double soon_ = 0;
  TimePoint settled_at_{};
  TimePoint look_at_ = TimePoint::max();
};

}  // namespace cohort::net
