#pragma once

#include "base/clock.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace cohort::comm {

/// Tells the core that the thread spins in a loop.
inline void spin_once() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Work that the progress thread carries on in small steps: a transport, the calls of a group.
///
/// Threads: advance() and wanted_at() are called by one thread at a time, the progress thread or a test.
class Task {
 public:
  virtual ~Task() = default;

  /// Does everything that can be done without waiting. True if something was done.
  virtual bool advance() = 0;
  /// The time of the next advance(), at the latest, even if no wake() comes.
  virtual TimePoint wanted_at() const { return TimePoint::max(); }
};

/// Lets a thread sleep until another one rings. The order of calls: arm(), a last look for work, sleep() if
/// there is none, disarm(). A ring after arm() is not lost.
///
/// Threads: every method from any thread.
class Doorbell {
 public:
  virtual ~Doorbell() = default;

  /// Begins to notice rings; sleep() takes the returned ticket.
  virtual std::uint32_t arm() = 0;
  /// Returns at `until`, or after a ring that followed arm(); may return early.
  virtual void sleep(std::uint32_t ticket, TimePoint until) = 0;
  virtual void disarm() = 0;
  virtual void ring() = 0;
};

/// A doorbell for threads of one process.
class LocalDoorbell final : public Doorbell {
 public:
  std::uint32_t arm() override;
  void sleep(std::uint32_t ticket, TimePoint until) override;
  void disarm() override {}
  void ring() override;

 private:
  std::mutex mutex_;
  std::condition_variable rung_;
  std::uint32_t rings_ = 0;
};

/// Advances tasks: the progress thread, or a simulation.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;

  virtual void add(Task& task) = 0;
  /// Once this has returned, the task is not being advanced and never will be again.
  virtual void remove(Task& task) = 0;
  /// Advances all tasks soon: a task may have something to do.
  virtual void wake() = 0;
};

/// The one thread of a process that advances all tasks, again and again while any of them has something to
/// do. When no task has, the thread spins, then yields, then sleeps at the doorbell until a ring or the
/// earliest wanted_at(). After a long sleep it spins for a shorter time before the next one, after a short
/// sleep longer.
///
/// Threads: every method from any thread, except that a task must not remove itself or wait inside advance().
/// Lifetime: tasks must be removed before they are destroyed; the doorbell must outlive the Progress, whose
/// destructor ends the thread.
class Progress final : public TaskRunner {
 public:
  explicit Progress(Doorbell& doorbell);
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(Task& task) override;
  void remove(Task& task) override;
  void wake() override { doorbell_.ring(); }
  /// Ends the thread, then advances all tasks on this one until none has anything to do. Tasks that are added
  /// later are not advanced any more. Must not be called inside advance().
  void stop();

 private:
  void run(const std::stop_token& stop);
  void end_thread();
  bool advance_all();
  TimePoint wanted_at();
  void nap(const std::stop_token& stop);
  void learn_from_nap(std::chrono::nanoseconds slept);

  Doorbell& doorbell_;
  int patience_;      // rounds without work before the thread sleeps
  std::mutex mutex_;  // guards tasks_; held while they are advanced
  std::vector<Task*> tasks_;
  std::jthread thread_;
};

}  // namespace cohort::comm
