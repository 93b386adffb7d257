#pragma once

#include "base/clock.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cohort::net {

/// The rate limit that all connections of a process share (SO_MAX_PACING_RATE).
///
/// In a collective call traffic goes both ways on every link at once. If the queues of the network fill up,
/// TCP's acknowledgements wait behind payload, packets are dropped, and TCP slows down. A sender slightly
/// below the rate of the link keeps the queues empty. The limit starts at the measured rate. It rises while
/// the queueing delay is short, falls when the delay is long, and after a fall it rests before it rises
/// again, as close to the limit queues build up and drain by themselves.
///
/// Threads: set() and is_set() from any thread, the other methods from the thread that writes.
class Pace {
 public:
  /// Sets the limit for all connections together.
  void set(double bytes_per_s);
  bool is_set() const { return rate_.load(std::memory_order_relaxed) > 0; }
  /// The limit of each connection that has bytes to send, in bytes per second.
  double share() const;

  void add_busy() { ++num_busy_; }
  void remove_busy() { --num_busy_; }
  /// Adapts the limit to the queueing delay that a busy connection has measured.
  void waited(std::chrono::nanoseconds in_queues, TimePoint now);

 private:
  void change(double factor);

  std::atomic<double> rate_{0};
  std::atomic<double> first_rate_{0};
  int num_busy_ = 0;
  TimePoint rise_at_{};  // earliest time of the next rise
  TimePoint fall_at_{};  // earliest time of the next fall
};

/// One connection under a Pace.
///
/// Threads: one at a time.
/// Lifetime: pace and socket must outlive it.
class PacedSocket {
 public:
  PacedSocket(Pace& pace, int socket) : pace_(pace), socket_(socket) {}
  ~PacedSocket() { has_sent_all(); }
  PacedSocket(const PacedSocket&) = delete;
  PacedSocket& operator=(const PacedSocket&) = delete;

  /// Bytes are waiting to be sent. A connection with few bytes takes no share of the limit.
  void has_more(std::uint64_t num_bytes, const Clock& clock);
  void has_sent_all();

 private:
  void keep_to(double bytes_per_s);
  void look(TimePoint now);

  Pace& pace_;
  const int socket_;
  bool is_busy_ = false;
  double kept_ = 0;
  TimePoint look_at_{};
};

}  // namespace cohort::net
