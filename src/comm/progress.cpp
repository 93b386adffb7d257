#include "comm/progress.h"

#include "comm/spin.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// How often nothing may move before the thread gives up its core, and then before it sleeps.
constexpr int kSpins = 200;
constexpr int kYields = 20;

}  // namespace

std::uint32_t LocalDoorbell::arm() {
  const std::lock_guard lock(mutex_);
  return rings_;
}

void LocalDoorbell::sleep(std::uint32_t ticket, TimePoint until) {
  std::unique_lock lock(mutex_);
  rung_.wait_until(lock, until, [&] { return rings_ != ticket; });
}

void LocalDoorbell::ring() {
  const std::lock_guard lock(mutex_);
  ++rings_;
  rung_.notify_all();
}

Progress::Progress(Doorbell& doorbell)
    : doorbell_(doorbell), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Progress::~Progress() {
  thread_.request_stop();
  doorbell_.ring();
}

void Progress::add(Task& task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(&task);
  }
  doorbell_.ring();
}

void Progress::remove(Task& task) {
  const std::lock_guard lock(mutex_);
  std::erase(tasks_, &task);
}

bool Progress::advance_all() {
  const std::lock_guard lock(mutex_);
  bool moved = false;
  for (Task* task : tasks_) moved = task->advance() || moved;
  return moved;
}

TimePoint Progress::wanted_at() {
  const std::lock_guard lock(mutex_);
  TimePoint until = TimePoint::max();
  for (const Task* task : tasks_) until = std::min(until, task->wanted_at());
  return until;
}

void Progress::nap(const std::stop_token& stop) {
  const std::uint32_t ticket = doorbell_.arm();
  if (!stop.stop_requested() && !advance_all()) doorbell_.sleep(ticket, wanted_at());
  doorbell_.disarm();
}

void Progress::run(const std::stop_token& stop) {
  int idle_rounds = 0;
  while (!stop.stop_requested()) {
    if (advance_all()) {
      idle_rounds = 0;
    } else if (++idle_rounds <= kSpins) {
      spin_once();
    } else if (idle_rounds <= kSpins + kYields) {
      std::this_thread::yield();
    } else {
      nap(stop);
      idle_rounds = 0;
    }
  }
}

}  // namespace cohort::comm
