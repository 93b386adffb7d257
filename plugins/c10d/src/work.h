#pragma once

#include "comm/group/communicator.h"
#include "open_count.h"
#include "task.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace cohort::c10d_plugin {

/// An asynchronous task in flight. Its calls make progress by themselves; the one that ends last finishes it.
///
/// Threads: every method from any thread.
/// Lifetime: keeps itself and its tensors alive until its calls have ended. Tensors are released by the
/// thread that waits or by Callbacks, never by the progress thread: releasing a tensor may need Python's GIL.
class Pending : public std::enable_shared_from_this<Pending> {
 public:
  /// `ended` runs when the task ends, with or without success; it may be empty.
  Pending(Task task, TimePoint deadline, std::function<void()> ended, std::shared_ptr<OpenCount> open_tasks)
      : task_(std::make_shared<Task>(std::move(task))),
        completion_(deadline),
        ended_(std::move(ended)),
        open_tasks_(std::move(open_tasks)) {}

  void start(Communicator& group, std::chrono::nanoseconds limit);
  comm::Completion& completion() { return completion_; }
  /// The work that waits for this task is gone.
  void abandon();

 private:
  void one_ended(const Status& outcome);

  std::shared_ptr<Task> task_;
  comm::Completion completion_;
  const std::function<void()> ended_;
  const std::shared_ptr<OpenCount> open_tasks_;
  std::atomic<bool> one_is_through_ = false;  // the work is gone, or the calls have ended
  std::mutex mutex_;
  std::size_t num_open_ = 0;
  Status outcome_;
};

/// The Work that torch gets for a call.
///
/// Threads: every method from any thread. Callbacks of its future run on the threads of Callbacks.
/// Failure: wait() throws a DistBackendError with rank, operation, the missing ranks and a remedy.
class CohortWork final : public ::c10d::Work {
 public:
  /// Call run() or start() next. Profilers show `title`. `number` is the sequence number in the group.
  CohortWork(int rank, const Task& task, const char* title, std::uint64_t number);
  ~CohortWork() override;
  /// Runs all calls of the task on this thread.
  void run(const Task& task, Communicator& group, std::chrono::nanoseconds limit);
  /// Starts all calls of the task and returns.
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
  std::uint64_t getSequencenumber() const override { return number_; }
  void set_source(std::shared_ptr<const int> source) { source_ = std::move(source); }

 private:
  const std::vector<at::Tensor> outputs_;
  const std::uint64_t number_;
  std::shared_ptr<Pending> pending_;  // null: the task has succeeded
  std::shared_ptr<const int> source_;
  std::mutex future_mutex_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// The name of a work in profilers: `cohort:all_reduce`. Valid until the process ends.
const char* title_of(const std::string& backend, ::c10d::OpType type);

/// Throws the error as torch's DistBackendError.
[[noreturn]] void raise_for_torch(const Error& error);

}  // namespace cohort::c10d_plugin
