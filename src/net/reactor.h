#pragma once

#include "base/clock.h"
#include "comm/progress/progress.h"

#include <atomic>
#include <memory>

namespace cohort::net {

/// Readiness flags of one descriptor: tells whether it may be readable or writable without a system call.
///
/// Threads: one at a time; the thread that polls the reactor sets the flags.
/// Lifetime: the reactor must outlive the watch, which does not own the descriptor.
class Watch {
 public:
  virtual ~Watch() = default;

  virtual bool is_readable() const = 0;
  virtual bool is_writable() const = 0;
  /// Call after a read that would block: is_readable() is false until bytes come.
  virtual void wait_for_read() = 0;
  virtual void wait_for_write() = 0;
};

/// Waits for many sockets at once (epoll, by way of Asio). No other file includes Asio.
///
/// Threads: every method from any thread; watches are made by one thread at a time.
class Reactor {
 public:
  Reactor();
  ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  std::unique_ptr<Watch> watch(int descriptor);
  /// Updates the flags of all watches without blocking.
  void poll();
  /// Blocks until a flag changes, wake() is called, or `until`.
  void sleep(TimePoint until);
  void wake();

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

/// A doorbell whose sleeper also wakes up when a socket becomes ready.
///
/// Threads: every method from any thread.
/// Lifetime: the reactor must outlive it.
class SocketDoorbell final : public comm::Doorbell {
 public:
  explicit SocketDoorbell(Reactor& reactor) : reactor_(reactor) {}

  std::uint32_t arm() override;
  void sleep(std::uint32_t ticket, TimePoint until) override;
  void disarm() override;
  void ring() override;

 private:
  Reactor& reactor_;
  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace cohort::net
