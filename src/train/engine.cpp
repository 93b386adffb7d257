#include "train/engine.h"

#include <algorithm>
#include <chrono>

namespace cohort::train {

Engine::Engine(Perform perform) : perform_(std::move(perform)), lane_([this] { serve(); }) {}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  lane_.join();
}

void Engine::run(const Program& program) {
  {
    const std::lock_guard lock(mutex_);
    program_ = &program;
    done_.assign(program.size(), false);
    failure_ = nullptr;
    lane_is_busy_ = true;
  }
  changed_.notify_all();
  run_lane(Lane::kSlots);
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !lane_is_busy_; });
  waited_ += std::chrono::steady_clock::now() - start;
  program_ = nullptr;
  if (failure_) std::rethrow_exception(failure_);
}

void Engine::filled(int bucket) {
  const std::lock_guard lock(mutex_);
  if (program_ == nullptr) return;
  for (std::size_t i = 0; i < program_->size(); ++i) {
    const Action& action = (*program_)[i];
    if (action.verb == Verb::kFill && action.bucket == bucket) done_[i] = true;
  }
  changed_.notify_all();
}

void Engine::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || lane_is_busy_; });
    if (ending_) return;
    lock.unlock();
    run_lane(Lane::kBuckets);
    lock.lock();
    lane_is_busy_ = false;
    changed_.notify_all();
  }
}

void Engine::run_lane(Lane lane) {
  const Program& program = *program_;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Action& action = program[i];
    if (action.verb == Verb::kFill || action.lane() != lane) continue;
    if (!wait_for(action)) return;
    try {
      perform_(action);
    } catch (...) {
      return fail(std::current_exception());
    }
    mark(i);
  }
}

void Engine::mark(std::size_t index) {
  {
    const std::lock_guard lock(mutex_);
    done_[index] = true;
  }
  changed_.notify_all();
}

bool Engine::wait_for(const Action& action) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  // No deadline: either the other lane goes on, whose waits have one, or it fails.
  changed_.wait(lock, [&] {
    return failure_ || std::all_of(action.after.begin(), action.after.end(),
                                   [&](std::size_t i) { return static_cast<bool>(done_[i]); });
  });
  if (action.lane() == Lane::kSlots) waited_ += std::chrono::steady_clock::now() - start;
  return !failure_;
}

void Engine::fail(std::exception_ptr cause) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(cause);
  }
  changed_.notify_all();
}

}  // namespace cohort::train
