#include "train/work_thread.h"

namespace cohort::train {

WorkThread::WorkThread() : thread_([this] { serve(); }) {}

WorkThread::~WorkThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WorkThread::give(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void WorkThread::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || (jobs_.empty() && !busy_); });
  if (failure_) std::rethrow_exception(failure_);
}

void WorkThread::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || (!failure_ && !jobs_.empty()); });
    if (ending_) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      job();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    if (thrown) failure_ = thrown;
    changed_.notify_all();
  }
}

}  // namespace cohort::train
