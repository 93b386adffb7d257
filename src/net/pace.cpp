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
constexpr auto kWantedQueue = 1500us;  // a little, so that a link never waits for a sender
constexpr double kStep = 0.05;
constexpr double kLowest = 1;  // of what it began with, which the link has carried
constexpr double kHighest = 64;
constexpr double kWorthTelling = 0.01;

}  // namespace

void Pace::set(double bytes_per_s) {
  first_rate_ = bytes_per_s;
  rate_ = bytes_per_s;
}

double Pace::share() const {
  return rate_.load(std::memory_order_relaxed) / std::max(1, num_busy_);
}

void Pace::waited(std::chrono::nanoseconds in_queues, TimePoint now) {
  if (now - changed_at_ < kInterval) return;
  changed_at_ = now;
  const double error =
      1 - static_cast<double>(in_queues.count()) / std::chrono::nanoseconds(kWantedQueue).count();
  const double first = first_rate_.load(std::memory_order_relaxed);
  const double rate = rate_.load(std::memory_order_relaxed) * (1 + kStep * std::clamp(error, -1.0, 1.0));
  rate_.store(std::clamp(rate, kLowest * first, kHighest * first), std::memory_order_relaxed);
}

void PacedSocket::has_more(const Clock& clock) {
  if (!pace_.is_set()) return;
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

// The round trip of what was sent while the connection was busy, beyond that of a quiet network.
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
