#include "net/low_water.h"

#include <algorithm>
#include <bit>
#include <sys/socket.h>

namespace cohort::net {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kPatience = 2ms;
constexpr auto kLookAfter = 10ms;
constexpr std::size_t kRecord = std::size_t{17} << 10;

}  // namespace

double LowWater::come_soon(std::size_t got, std::chrono::nanoseconds elapsed) {
  const double speed = static_cast<double>(got) / std::max(1.0, static_cast<double>(elapsed.count()));
  return std::min(speed * static_cast<double>(kPatience.count()), static_cast<double>(kMost));
}

// With TLS, part of the bytes left may be in a record that has been received but cannot be decrypted yet: the
// mark stays a record below the bytes left.
std::size_t LowWater::mark_for(double soon, std::size_t num_left) {
  if (num_left < 2 * kRecord) return 1;
  const std::size_t number = std::min(static_cast<std::size_t>(soon), num_left - kRecord);
  return number < kLeast ? 1 : std::bit_floor(number);
}

bool LowWater::settle(std::size_t got, std::size_t num_left, TimePoint now) {
  if (got > 0 || now >= look_at_) {
    soon_ = come_soon(got, now - settled_at_);
    settled_at_ = now;
  }
  std::size_t mark = mark_for(soon_, num_left);
  if (mark > mark_ && mark < 4 * mark_ && mark_ > 1) {
    mark = mark_;  // small changes are not worth a system call
  }
  look_at_ = mark > 1 ? now + kLookAfter : TimePoint::max();
  if (mark == mark_) return true;
  mark_ = mark;
  const int value = static_cast<int>(mark);
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof value);
  return false;
}

}  // namespace cohort::net
