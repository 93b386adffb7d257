#pragma once

#include "comm/progress/progress.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace cohort::comm {

/// Makes one doorbell ring another: while a thread sleeps at the second doorbell, a thread of this class
/// sleeps at the first and passes its rings on.
///
/// Threads: every method from any thread.
/// Lifetime: owns the first doorbell; the second must outlive it.
/// Cost: a thread; a ring of the first doorbell takes two thread switches.
class RelayedDoorbell final : public Doorbell {
 public:
  RelayedDoorbell(std::unique_ptr<Doorbell> first, Doorbell& second);
  ~RelayedDoorbell() override;

  std::uint32_t arm() override;
  void sleep(std::uint32_t ticket, TimePoint until) override { second_.sleep(ticket, until); }
  void disarm() override { second_.disarm(); }
  void ring() override { second_.ring(); }

 private:
  void watch(const std::stop_token& stop);

  const std::unique_ptr<Doorbell> first_;
  Doorbell& second_;
  std::mutex mutex_;
  std::condition_variable_any armed_;
  bool is_armed_ = false;
  std::jthread watcher_;
};

}  // namespace cohort::comm
