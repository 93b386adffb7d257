#pragma once

#include "base/clock.h"

#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace cohort::comm {

/// Something that goes on a little whenever it is asked: a transport, a schedule in flight, a call that
/// waits.
///
/// Threads: advance() and wanted_at() are called by one thread at a time, the progress thread or a test.
class Task {
 public:
  virtual ~Task() = default;

  /// Does what can be done without waiting. True if anything was done.
  virtual bool advance() = 0;
  /// When it wants to be asked at the latest, even if nobody wakes the progress thread.
  virtual TimePoint wanted_at() const { return TimePoint::max(); }
};

/// Where a thread sleeps until somebody rings. The way to it: arm(), a last look, sleep() if there was
/// nothing, disarm(). What is rung after arm() is not lost.
///
/// Threads: every method from any thread.
class Doorbell {
 public:
  virtual ~Doorbell() = default;

  /// From now on rings are noticed; the ticket is for sleep().
  virtual std::uint32_t arm() = 0;
  /// Returns at `until`, or when it was rung after `ticket` was taken; may return early.
  virtual void sleep(std::uint32_t ticket, TimePoint until) = 0;
  virtual void disarm() = 0;
  virtual void ring() = 0;
};

/// A doorbell inside one process.
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

/// Whoever goes round tasks: a progress thread, or a simulation.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;

  virtual void add(Task& task) = 0;
  /// When it returns the task is not being advanced and never will be again.
  virtual void remove(Task& task) = 0;
  /// Something changed that a task may be waiting for.
  virtual void wake() = 0;
};

/// The one thread of a process that carries on everything in flight. It goes round all tasks while any of
/// them moves; when none does it spins, then yields, then sleeps at the doorbell until it is rung or the
/// first task wants it. Who has slept for long sleeps sooner the next time, who was woken at once later.
///
/// Threads: every method from any thread, except that a task must not remove itself or wait inside advance().
/// Lifetime: tasks must be removed before they die; the doorbell must outlive this. The destructor ends the
/// thread.
class Progress final : public TaskRunner {
 public:
  explicit Progress(Doorbell& doorbell);
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(Task& task) override;
  void remove(Task& task) override;
  void wake() override { doorbell_.ring(); }

 private:
  void run(const std::stop_token& stop);
  bool advance_all();
  TimePoint wanted_at();
  void nap(const std::stop_token& stop);
  void learn_from_nap(std::chrono::nanoseconds slept);

  Doorbell& doorbell_;
  int patience_;      // rounds in which nothing moves, before it sleeps
  std::mutex mutex_;  // guards tasks_; held while they are advanced
  std::vector<Task*> tasks_;
  std::jthread thread_;
};

}  // namespace cohort::comm
