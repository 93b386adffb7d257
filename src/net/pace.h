#pragma once

#include "base/clock.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cohort::net {

/// How fast the connections of a process send together.
///
/// In a collective call traffic goes both ways on every link at once. Where queues of the network are full,
/// acknowledgements wait behind numbers, packets are dropped, and TCP takes that for a slow network. Who
/// sends nearly as fast as the link carries fills no queue. The rate begins with what was measured. It rises
/// as long as bytes do not wait; once they do it falls, and rests before it rises again: at the very edge
/// queues come and go.
///
/// Threads: set() and is_set() from any thread, the rest from the one that writes.
class Pace {
 public:
  /// Bytes per second, of all connections together.
  void set(double bytes_per_s);
  bool is_set() const { return rate_.load(std::memory_order_relaxed) > 0; }
  /// Of each connection that has something to send.
  double share() const;

  void add_busy() { ++num_busy_; }
  void remove_busy() { --num_busy_; }
  /// What a busy connection has seen: how long its bytes waited in queues.
  void waited(std::chrono::nanoseconds in_queues, TimePoint now);

 private:
  void change(double factor);

  std::atomic<double> rate_{0};
  std::atomic<double> first_rate_{0};
  int num_busy_ = 0;
  TimePoint rise_at_{};  // not before
  TimePoint fall_at_{};
};

/// One connection that keeps to a pace.
///
/// Threads: one. Lifetime: pace and socket must outlive it.
class PacedSocket {
 public:
  PacedSocket(Pace& pace, int socket) : pace_(pace), socket_(socket) {}
  ~PacedSocket() { has_sent_all(); }
  PacedSocket(const PacedSocket&) = delete;
  PacedSocket& operator=(const PacedSocket&) = delete;

  /// There is something to send. Few bytes take nothing of the pace from others.
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
