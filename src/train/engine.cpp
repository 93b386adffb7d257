#include "train/engine.h"

#include "base/result.h"

#include <algorithm>

namespace cohort::train {

using std::chrono::steady_clock;

Engine::Engine(Perform perform) : perform_(std::move(perform)) {}

void Engine::run(const Program& program) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_) {
      raise(Error(ErrorCode::kAborted, "an earlier step failed")
                .with_remedy("Make a new Trainer, in a new Context."));
    }
    program_ = &program;
    done_.assign(program.size(), false);
  }
  buckets_.give([&] { run_lane(program, Lane::kBuckets); });
  std::exception_ptr thrown;
  try {
    run_lane(program, Lane::kSlots);
  } catch (...) {
    thrown = std::current_exception();
  }
  const auto start = steady_clock::now();
  try {
    buckets_.drain();
  } catch (...) {
    if (!thrown) thrown = std::current_exception();
  }
  waited_ += steady_clock::now() - start;
  {
    const std::lock_guard lock(mutex_);
    program_ = nullptr;
  }
  if (thrown) std::rethrow_exception(thrown);
}

void Engine::filled(int bucket) {
  const std::lock_guard lock(mutex_);
  if (program_ == nullptr) return;
  for (std::size_t i = 0; i < program_->size(); ++i) {
    const Action& action = (*program_)[i];
    if (action.kind == ActionKind::kFill && action.bucket == bucket) done_[i] = true;
  }
  changed_.notify_all();
}

void Engine::run_lane(const Program& program, Lane lane) {
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Action& action = program[i];
    if (action.kind == ActionKind::kFill || action.lane() != lane) continue;
    if (!wait_for(action)) return;
    try {
      perform_(action);
    } catch (...) {
      fail();
      throw;
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
  const auto start = steady_clock::now();
  std::unique_lock lock(mutex_);
  // No deadline is needed: every wait of the other lane has one, and its failure ends this wait.
  changed_.wait(lock, [&] {
    return failed_ || std::all_of(action.after.begin(), action.after.end(),
                                  [&](std::size_t i) { return static_cast<bool>(done_[i]); });
  });
  if (action.lane() == Lane::kSlots) waited_ += steady_clock::now() - start;
  return !failed_;
}

void Engine::fail() {
  {
    const std::lock_guard lock(mutex_);
    failed_ = true;
  }
  changed_.notify_all();
}

}  // namespace cohort::train
