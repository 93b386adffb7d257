#pragma once

#include "base/clock.h"

#include <cstddef>

namespace cohort::net {

/// The low-water mark of a socket (SO_RCVLOWAT): how many bytes must be waiting before the kernel reports it
/// readable. While a long payload comes in packet by packet, one read for many packets saves wake-ups.
///
/// Threads: one at a time.
/// Lifetime: the socket must outlive it.
/// Failure: if the network becomes slower than expected, look_at() bounds the wait.
/// Cost: a system call whenever the mark changes.
class LowWater {
 public:
  /// A mark below kLeast is not worth a system call and becomes 1.
  static constexpr std::size_t kLeast = std::size_t{4} << 10;
  static constexpr std::size_t kMost = std::size_t{64} << 10;

  explicit LowWater(int socket) : socket_(socket) {}

  /// Called once the socket has been read empty: `got` bytes came since the last call, at least `num_left`
  /// will follow. False if the mark has changed: read once more before waiting for readability.
  bool settle(std::size_t got, std::size_t num_left, TimePoint now);
  /// The time to read even if the socket is not reported readable.
  TimePoint look_at() const { return look_at_; }

  /// The number of bytes expected within the next 2 ms at this speed, at most kMost.
  static double come_soon(std::size_t got, std::chrono::nanoseconds elapsed);
  /// The mark if `soon` bytes are expected shortly, and `num_left` in total: 1, or a power of two from
  /// kLeast.
  static std::size_t mark_for(double soon, std::size_t num_left);

 private:
  const int socket_;
  std::size_t mark_ = 1;
  double soon_ = 0;
  TimePoint settled_at_{};
  TimePoint look_at_ = TimePoint::max();
};

}  // namespace cohort::net
