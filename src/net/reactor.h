#pragma once

#include "base/clock.h"
#include "comm/progress.h"

#include <atomic>
#include <memory>

namespace cohort::net {

/// Whether a descriptor can be read or written, without asking the kernel each time.
///
/// Threads: one at a time; flags are set by whoever polls the reactor.
/// Lifetime: the reactor must outlive it; the descriptor is its owner's.
class Watch {
 public:
  virtual ~Watch() = default;

  virtual bool is_readable() const = 0;
  virtual bool is_writable() const = 0;
  /// There was nothing to read: is_readable() is false until there is.
  virtual void wait_for_read() = 0;
  virtual void wait_for_write() = 0;
};

/// Where all sockets of a process are watched together. The room of Asio.
///
/// Threads: every method from any thread; watches may be made on one at a time.
class Reactor {
 public:
  Reactor();
  ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  std::unique_ptr<Watch> watch(int descriptor);
  /// Brings flags up to date without waiting.
  void poll();
  /// Returns at `until`, or when a flag changed or somebody woke it.
  void sleep(TimePoint until);
  void wake();

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

/// A doorbell that sockets ring, too.
///
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
