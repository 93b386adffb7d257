#pragma once

#include "comm/communicator.h"
#include "open_count.h"
#include "task.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace cohort::c10d_plugin {

/// A task under way: its calls go on by themselves, the last one that ends finishes it.
///
/// Threads: every method from any thread.
/// Lifetime: lives, and keeps its tensors, until its calls are over, whoever lets go of it. Tensors are let
/// go by whoever waits, or by one of the callbacks: that may need Python's lock, for which the progress
/// thread must not wait.
class Pending : public std::enable_shared_from_this<Pending> {
 public:
  /// `ended` is called when it is over, however that is; it may be empty.
  Pending(Task task, TimePoint deadline, std::function<void()> ended, std::shared_ptr<OpenCount> open_tasks)
      : task_(std::make_shared<Task>(std::move(task))),
        completion_(deadline),
        ended_(std::move(ended)),
        open_tasks_(std::move(open_tasks)) {}

  void start(Communicator& group, std::chrono::nanoseconds limit);
  comm::Completion& completion() { return completion_; }
  /// Nobody waits any more.
  void abandon();

 private:
  void one_ended(const Status& outcome);

  std::shared_ptr<Task> task_;
  comm::Completion completion_;
  const std::function<void()> ended_;
  const std::shared_ptr<OpenCount> open_tasks_;
  std::atomic<bool> one_is_through_ = false;  // whoever waits, or the calls
  std::mutex mutex_;
  std::size_t num_open_ = 0;
  Status outcome_;
};

/// What torch waits for.
///
/// Threads: every method from any thread. Those of futures are Callbacks.
/// Failure: wait() throws a DistBackendError with rank, operation, who is missing, and a remedy.
class CohortWork final : public ::c10d::Work {
 public:
  /// Of a task that begins now; then one of the two below. `title` is shown by profilers.
  CohortWork(int rank, const Task& task, const char* title);
  ~CohortWork() override;
  /// Makes all calls of the task here.
  void run(const Task& task, Communicator& group, std::chrono::nanoseconds limit);
  /// Lets them go on by themselves.
  void start(Task task, Communicator& group, std::chrono::nanoseconds limit,
             std::shared_ptr<OpenCount> open_tasks);

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override { wait(); }
  std::vector<at::Tensor> result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  int sourceRank() const override;
  void set_source(std::shared_ptr<const int> source) { source_ = std::move(source); }

 private:
  const std::vector<at::Tensor> outputs_;
  std::shared_ptr<Pending> pending_;  // null: it is over, and went well
  std::shared_ptr<const int> source_;
  std::mutex future_mutex_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// Throws it as torch's own.
[[noreturn]] void raise_for_torch(const Error& error);

}  // namespace cohort::c10d_plugin
