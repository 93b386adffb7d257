#include "work.h"

#include "callbacks.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

namespace cohort::c10d_plugin {
namespace {

// wait() lasts this much longer than the call's timeout, so that the call's own error, which names ranks,
// comes first.
constexpr std::chrono::seconds kGrace{1};
constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(24 * 365);

std::exception_ptr as_exception(const Error& error) {
  try {
    raise_for_torch(error);
  } catch (...) {
    return std::current_exception();
  }
}

c10::intrusive_ptr<c10::ivalue::Future> new_future() {
  return c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
}

}  // namespace

void raise_for_torch(const Error& error) {
  const std::string text = error.text();
  // Programs search for "Timed out".
  if (error.code() == ErrorCode::kTimedOut) C10_THROW_ERROR(DistBackendError, "cohort: Timed out in " + text);
  C10_THROW_ERROR(DistBackendError, text);
}

void Pending::start(Communicator& group, std::chrono::nanoseconds limit) {
  open_tasks_->begin();
  const std::shared_ptr<const Task> task = task_;
  num_open_ = task->calls().size() + 1;
  for (const Call& call : task->calls()) {
    group.start(call.within(limit)).then([self = shared_from_this()](const Status& outcome) {
      self->one_ended(outcome);
    });
  }
  one_ended({});
}

void Pending::one_ended(const Status& outcome) {
  {
    const std::lock_guard lock(mutex_);
    if (!outcome && outcome_) outcome_ = outcome;
    if (--num_open_ > 0) return;
  }
  task_->end();
  try {
    if (outcome_) task_->finish();
  } catch (const std::exception& failure) {
    outcome_ = Error(ErrorCode::kBug, failure.what());
  }
  if (ended_) ended_();
  open_tasks_->end();
  const bool is_abandoned = one_is_through_.exchange(true);  // before wait() can return
  completion_.settle(outcome_);
  if (is_abandoned) Callbacks::of_process().add([task = std::move(task_)] {});
}

void Pending::abandon() {
  if (one_is_through_.exchange(true)) task_.reset();
}

CohortWork::CohortWork(int rank, const Task& task, const char* title, std::uint64_t number)
    : Work(rank, task.type(), title, task.shown()), outputs_(task.outputs()), number_(number) {}

void CohortWork::run(const Task& task, Communicator& group, std::chrono::nanoseconds limit) {
  Status outcome;
  for (const Call& call : task.calls()) {
    if (outcome) outcome = group.run(call.within(limit));
  }
  task.end();
  if (outcome) task.finish();
  if (const auto ended = std::exchange(recordFunctionEndCallback_, nullptr)) ended();
  if (!outcome) raise_for_torch(outcome.error());
}

CohortWork::~CohortWork() {
  if (pending_ != nullptr) pending_->abandon();
}

void CohortWork::start(Task task, Communicator& group, std::chrono::nanoseconds limit,
                       std::shared_ptr<OpenCount> open_tasks) {
  pending_ =
      std::make_shared<Pending>(std::move(task), std::chrono::steady_clock::now() + limit + kGrace,
                                std::exchange(recordFunctionEndCallback_, nullptr), std::move(open_tasks));
  pending_->start(group, limit);
}

bool CohortWork::isCompleted() {
  return pending_ == nullptr || pending_->completion().outcome().has_value();
}

bool CohortWork::isSuccess() const {
  if (pending_ == nullptr) return true;
  const std::optional<Status> outcome = pending_->completion().outcome();
  return outcome && *outcome;
}

std::exception_ptr CohortWork::exception() const {
  if (pending_ == nullptr) return nullptr;
  const std::optional<Status> outcome = pending_->completion().outcome();
  return outcome && !*outcome ? as_exception(outcome->error()) : nullptr;
}

bool CohortWork::wait(std::chrono::milliseconds timeout) {
  if (pending_ == nullptr) return true;
  const comm::HandlerPool::Pause pause(Callbacks::of_process().pool());
  comm::Completion& completion = pending_->completion();
  TimePoint until = completion.deadline() + kGrace;
  if (timeout > std::chrono::milliseconds::zero()) {
    until =
        std::min(until, deadline_after(std::chrono::steady_clock::now(), std::min(timeout, kLongestWait)));
  }
  const std::optional<Status> outcome = completion.wait_until(until);
  if (!outcome) {
    raise_for_torch(Error(ErrorCode::kTimedOut, "wait(): the work has not ended within the timeout"));
  }
  if (!*outcome) raise_for_torch(outcome->error());
  return true;
}

int CohortWork::sourceRank() const {
  TORCH_CHECK(source_ != nullptr, "sourceRank() may only be called on the work of a receive from any rank");
  return *source_;
}

c10::intrusive_ptr<c10::ivalue::Future> CohortWork::getFuture() {
  const std::lock_guard lock(future_mutex_);
  if (future_) return future_;
  future_ = new_future();
  if (pending_ == nullptr) {
    future_->markCompleted(c10::IValue(outputs_));
    return future_;
  }
  pending_->completion().then([future = future_, outputs = outputs_](const Status& outcome) {
    Callbacks::of_process().add([=] {
      if (outcome) {
        future->markCompleted(c10::IValue(outputs));
      } else {
        future->setError(as_exception(outcome.error()));
      }
    });
  });
  return future_;
}

}  // namespace cohort::c10d_plugin
