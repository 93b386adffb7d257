#include "comm/progress/handler_pool.h"

#include <algorithm>
#include <iterator>
#include <system_error>

namespace cohort::comm {

void HandlerPool::add(Job job) {
  std::vector<Job> stuck;
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      jobs_.push_back(std::move(job));
      job = {};
      grow();
      stuck = take_what_is_stuck();
    }
  }
  for (const Job& refused : stuck) refused.refuse();
  if (job.run && !job.refuse) job.run();
}

void HandlerPool::close() {
  std::vector<std::thread> threads;
  std::deque<Job> dropped;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    const auto first_dropped =
        std::stable_partition(jobs_.begin(), jobs_.end(), [](const Job& job) { return !job.refuse; });
    std::move(first_dropped, jobs_.end(), std::back_inserter(dropped));
    jobs_.erase(first_dropped, jobs_.end());
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
  // No thread has ever been started: the jobs run here.
  for (; !jobs_.empty(); jobs_.pop_front()) jobs_.front().run();
}

int HandlerPool::num_threads() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(ids_.size());
}

void HandlerPool::run() {
  std::unique_lock lock(mutex_);
  while (true) {  // the thread is counted as idle here
    changed_.wait(lock, [&] { return (!jobs_.empty() && num_running_ < options_.running_cap) || closed_; });
    --num_idle_;
    if (jobs_.empty()) return;
    {
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      ++num_running_;
      lock.unlock();
      job.run();
    }
    lock.lock();
    --num_running_;
    ++num_idle_;
    if (!jobs_.empty()) changed_.notify_one();
  }
}

void HandlerPool::grow() {
  if (jobs_.empty()) return;
  if (num_idle_ > 0) changed_.notify_one();
  const bool is_needed = static_cast<int>(jobs_.size()) > num_idle_;
  const bool may_run = num_idle_ + num_running_ < options_.running_cap;
  const bool may_exist = static_cast<int>(threads_.size()) < options_.thread_cap;
  if (closed_ || !is_needed || !may_run || !may_exist) return;
  try {
    threads_.emplace_back([this] { run(); });
    ids_.insert(threads_.back().get_id());
    ++num_idle_;
  } catch (const std::system_error&) {
    // The operating system gives no more threads: the job waits for an existing one.
  }
}

std::vector<HandlerPool::Job> HandlerPool::take_what_is_stuck() {
  std::vector<Job> stuck;
  const bool all_wait = num_paused_ >= options_.thread_cap || threads_.empty();
  if (!all_wait) return stuck;
  for (Job& job : jobs_) {
    if (job.refuse) stuck.push_back(std::move(job));
  }
  std::erase_if(jobs_, [](const Job& job) { return !job.run; });
  return stuck;
}

HandlerPool::Pause::Pause(HandlerPool& pool)
    : pool_(pool), counts_([&] {
        const std::lock_guard lock(pool.mutex_);
        return pool.ids_.contains(std::this_thread::get_id());
      }()) {
  if (!counts_) return;
  std::vector<Job> stuck;
  {
    const std::lock_guard lock(pool_.mutex_);
    --pool_.num_running_;
    ++pool_.num_paused_;
    pool_.grow();
    stuck = pool_.take_what_is_stuck();
  }
  for (const Job& refused : stuck) refused.refuse();
}

HandlerPool::Pause::~Pause() {
  if (!counts_) return;
  const std::lock_guard lock(pool_.mutex_);
  --pool_.num_paused_;
  ++pool_.num_running_;
}

}  // namespace cohort::comm
