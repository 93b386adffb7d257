#include "comm/group/work.h"

namespace cohort::comm {

void Completion::settle(Status outcome) {
  std::vector<std::function<void(const Status&)>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    if (outcome_) return;
    outcome_ = std::move(outcome);
    callbacks.swap(callbacks_);
    settled_.notify_all();
  }
  for (const auto& callback : callbacks) callback(*outcome_);
}

std::optional<Status> Completion::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

std::optional<Status> Completion::wait_until(TimePoint until) const {
  std::unique_lock lock(mutex_);
  settled_.wait_until(lock, until, [&] { return outcome_.has_value(); });
  return outcome_;
}

void Completion::then(std::function<void(const Status&)> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!outcome_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback(*outcome_);
}

Work Work::finished(Status outcome) {
  auto completion = std::make_shared<comm::Completion>(TimePoint::max());
  completion->settle(std::move(outcome));
  return Work(std::move(completion));
}

Status Work::wait() const {
  // The operation settles by its deadline. The time after it is for an operation whose runner is gone.
  constexpr std::chrono::seconds kGrace(5);
  return wait_until(deadline_after(completion_->deadline(), kGrace));
}

Status Work::wait_until(TimePoint until) const {
  if (std::optional<Status> outcome = completion_->wait_until(until)) return *outcome;
  return Error(ErrorCode::kTimedOut, "the operation is still going on");
}

bool Work::is_done() const {
  return completion_->outcome().has_value();
}

void Work::then(std::function<void(const Status&)> callback) const {
  completion_->then(std::move(callback));
}

}  // namespace cohort::comm
