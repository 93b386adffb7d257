#include "train/engine.h"

#include "base/check.h"
#include "base/result.h"
#include "train/action_trace.h"

#include <algorithm>

namespace cohort::train {

using std::chrono::steady_clock;

namespace {

// True if a lane was ended because another lane, or another rank, has failed.
bool is_consequence(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return error.root().code() == ErrorCode::kAborted;
  } catch (...) {
    return false;
  }
}

}  // namespace

Engine::Engine(int num_lanes, Perform perform) : perform_(std::move(perform)) {
  for (int lane = 1; lane < num_lanes; ++lane) lanes_.push_back(std::make_unique<WorkThread>());
}

void Engine::begin(const Program& program) {
  COHORT_CHECK_EQ(static_cast<std::size_t>(program.num_lanes), lanes_.size() + 1);
  const std::lock_guard lock(mutex_);
  if (failed_) {
    raise(Error(ErrorCode::kAborted, "an earlier step failed")
              .with_remedy("Make a new Trainer, in a new Context."));
  }
  program_ = &program;
  done_.assign(program.actions.size(), false);
  fills_.clear();
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    const Action& action = program.actions[i];
    if (action.verb != Verb::kFill) continue;
    COHORT_CHECK_EQ(static_cast<std::size_t>(*action.bucket), fills_.size(), "buckets are filled in order");
    fills_.push_back(i);
  }
}

void Engine::run(const Program& program) {
  begin(program);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i]->give([this, &program, lane = static_cast<int>(i) + 1] { run_lane(program, lane); });
  }
  std::exception_ptr thrown;
  const auto keep_cause = [&](const auto& work) {
    try {
      work();
    } catch (...) {
      const std::exception_ptr now = std::current_exception();
      if (!thrown || (is_consequence(thrown) && !is_consequence(now))) thrown = now;
    }
  };
  keep_cause([&] { run_lane(program, kComputeLane); });
  const auto start = steady_clock::now();
  for (const auto& lane : lanes_) keep_cause([&] { lane->drain(); });
  waited_ += steady_clock::now() - start;
  {
    const std::lock_guard lock(mutex_);
    program_ = nullptr;
  }
  if (thrown) std::rethrow_exception(thrown);
  if (trace_ != nullptr) trace_->end_step();
}

void Engine::filled(int bucket) {
  {
    const std::lock_guard lock(mutex_);
    if (program_ == nullptr) return;
    const std::size_t index = fills_[static_cast<std::size_t>(bucket)];
    done_[index] = true;
    if (trace_ != nullptr) trace_->fill(index, program_->actions[index]);
  }
  changed_.notify_all();
}

void Engine::run_lane(const Program& program, int lane) {
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    const Action& action = program.actions[i];
    if (action.verb == Verb::kFill || action.lane != lane) continue;
    if (!wait_for(action)) return;
    try {
      perform(action, i);
    } catch (...) {
      fail();
      throw;
    }
    mark(i);
  }
}

void Engine::perform(const Action& action, std::size_t index) {
  if (trace_ == nullptr) return perform_(action);
  const auto begin = steady_clock::now();
  perform_(action);
  trace_->add(index, action, begin, steady_clock::now());
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
  // No deadline is needed: every wait of the other lanes has one, and their failure ends this wait.
  changed_.wait(lock, [&] {
    return failed_ || std::all_of(action.after.begin(), action.after.end(),
                                  [&](std::size_t i) { return static_cast<bool>(done_[i]); });
  });
  if (action.lane == kComputeLane) waited_ += steady_clock::now() - start;
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
