#include "comm/progress/progress.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// Rounds without work before the thread sleeps; after kSpins of them the thread yields its core.
constexpr int kMostRounds = 600;
constexpr int kFewestRounds = 12;
constexpr int kSpins = 10;
// A shorter sleep was not worth it: waking up takes a good part of this time.
constexpr std::chrono::milliseconds kShortNap(1);
// If a yield takes longer, another thread has work for the core. A thread that sleeps gets the core back
// sooner than one that yields again and again.
constexpr std::chrono::microseconds kLongYield(50);

bool yield_core() {
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::yield();
  return std::chrono::steady_clock::now() - begin < kLongYield;
}

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
    : doorbell_(doorbell),
      patience_(kMostRounds),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Progress::~Progress() {
  end_thread();
}

void Progress::end_thread() {
  thread_.request_stop();
  doorbell_.ring();
  if (thread_.joinable()) thread_.join();
}

void Progress::stop() {
  end_thread();
  for (int round = 0; round < kMostRounds && advance_all(); ++round) {
  }
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
  if (!stop.stop_requested() && !advance_all()) {
    const auto begin = std::chrono::steady_clock::now();
    doorbell_.sleep(ticket, wanted_at());
    learn_from_nap(std::chrono::steady_clock::now() - begin);
  }
  doorbell_.disarm();
}

void Progress::learn_from_nap(std::chrono::nanoseconds slept) {
  patience_ =
      slept < kShortNap ? std::min(2 * patience_, kMostRounds) : std::max(patience_ / 2, kFewestRounds);
}

void Progress::run(const std::stop_token& stop) {
  int idle_rounds = 0;
  while (!stop.stop_requested()) {
    if (advance_all()) {
      idle_rounds = 0;
    } else if (++idle_rounds <= kSpins) {
      spin_once();
    } else if (idle_rounds > patience_ || !yield_core()) {
      nap(stop);
      idle_rounds = 0;
    }
  }
}

}  // namespace cohort::comm
