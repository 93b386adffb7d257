#include "net/pace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>

namespace cohort::net {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 20ms;
constexpr std::chrono::nanoseconds kShortQueue = 1ms;
constexpr std::chrono::nanoseconds kLongQueue = 3ms;
constexpr auto kDrainTime = 100ms;  // until a lower rate has shortened the queues
constexpr auto kRest = 2s;
constexpr double kStep = 0.05;
constexpr double kLowest = 1;  // as a multiple of the first rate, which the link is known to carry
constexpr double kHighest = 64;
constexpr double kWorthTelling = 0.01;
constexpr std::uint64_t kFewBytes = std::uint64_t{32} << 10;

}  // namespace

void Pace::set(double bytes_per_s) {
  first_rate_ = bytes_per_s;
  rate_ = bytes_per_s;
}

double Pace::share() const {
  return rate_.load(std::memory_order_relaxed) / std::max(1, num_busy_);
}

void Pace::waited(std::chrono::nanoseconds in_queues, TimePoint now) {
  if (in_queues <= kShortQueue && now >= rise_at_) {
    change(1 + kStep);
    rise_at_ = now + kInterval;
  } else if (in_queues >= kLongQueue && now >= fall_at_) {
    change(1 - kStep);
    fall_at_ = now + kDrainTime;
    rise_at_ = now + kRest;
  }
}

void Pace::change(double factor) {
  const double first = first_rate_.load(std::memory_order_relaxed);
  const double rate = rate_.load(std::memory_order_relaxed) * factor;
  rate_.store(std::clamp(rate, kLowest * first, kHighest * first), std::memory_order_relaxed);
}

void PacedSocket::has_more(std::uint64_t num_bytes, const Clock& clock) {
  if (!pace_.is_set() || (!is_busy_ && num_bytes < kFewBytes)) return;
  const TimePoint now = clock.now();
  if (!std::exchange(is_busy_, true)) {
    pace_.add_busy();
    look_at_ = now + kInterval;
  }
  if (now >= look_at_) look(now);
  keep_to(pace_.share());
}

void PacedSocket::has_sent_all() {
  if (std::exchange(is_busy_, false)) pace_.remove_busy();
}

void PacedSocket::keep_to(double bytes_per_s) {
  if (std::fabs(bytes_per_s - kept_) <= kWorthTelling * kept_) return;
  const auto rate = static_cast<std::uint64_t>(bytes_per_s);
  ::setsockopt(socket_, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
  kept_ = bytes_per_s;
}

// The queueing delay is the round trip time while the connection is busy, less the shortest ever seen.
void PacedSocket::look(TimePoint now) {
  look_at_ = now + kInterval;
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return;
  const std::int64_t queued_us =
      static_cast<std::int64_t>(info.tcpi_rtt) - static_cast<std::int64_t>(info.tcpi_min_rtt);
  pace_.waited(std::chrono::microseconds(std::max<std::int64_t>(0, queued_us)), now);
}

}  // namespace cohort::net
