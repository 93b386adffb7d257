#include "comm/shared_memory/call_queue.h"

#include "comm/rank_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::comm {

CallQueue::CallQueue(GroupFacts facts, GroupView view, GroupFailure& failure, Hooks hooks)
    : facts_(std::move(facts)), view_(std::move(view)), failure_(failure), hooks_(std::move(hooks)) {}

CallQueue::~CallQueue() {
  settle_all(Error(ErrorCode::kAborted,
                   fmt::format("rank {}: the group '{}' was closed", facts_.rank, facts_.name)));
}

Work CallQueue::enqueue(const Call& call, const std::function<void()>& wake) {
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), *call.limit);
  auto completion = std::make_shared<Completion>(deadline);
  {
    const std::lock_guard lock(mutex_);
    wake_ = wake;
    num_queued_.fetch_add(1, std::memory_order_release);
    queue_.push_back(std::make_unique<Queued>(Queued{call, completion}));
  }
  wake();
  return Work(completion);
}

void CallQueue::end_turn() {
  busy_.store(false, std::memory_order_release);
  if (num_queued_.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(mutex_);
  if (wake_) wake_();
}

void CallQueue::settle_all(const Error& error) {
  std::deque<std::unique_ptr<Queued>> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(queue_);
    num_queued_.store(0, std::memory_order_release);
  }
  for (const auto& queued : all) queued->completion->settle(error);
}

bool CallQueue::advance() {
  if (failure_.has_failed() && !failure_was_told_) {
    failure_was_told_ = true;
    hooks_.on_failure(*failure_.error());
  }
  Queued* first = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return false;
    first = queue_.front().get();
  }
  if (!first->collective) {
    if (failure_.is_over()) return break_off();
    if (busy_.exchange(true, std::memory_order_acquire)) return end_if_late();
    first->sequence = ++sequence_;
    first->collective.emplace(view_, first->call, first->sequence);
  }
  return advance_first(*first) || end_if_late();
}

/// A call that waits for its turn has a deadline, too.
bool CallQueue::end_if_late() {
  const Queued* late = nullptr;
  {
    const TimePoint now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    for (const auto& queued : queue_) {
      if (late == nullptr && queued->completion->deadline() <= now) late = queued.get();
    }
  }
  if (late == nullptr) return false;
  fail(timed_out(late->call, late->collective ? &*late->collective : nullptr, late->sequence));
  return break_off();
}

bool CallQueue::advance_first(Queued& first) {
  Collective& collective = *first.collective;
  const bool over = failure_.is_over();
  if (collective.advance()) {
    finish_first(collective.fault() ? Status(fail(disagreed(first.call, collective, first.sequence)))
                                    : Status());
    return true;
  }
  return over && break_off();
}

void CallQueue::finish_first(Status outcome) {
  std::unique_ptr<Queued> first;
  {
    const std::lock_guard lock(mutex_);
    first = std::move(queue_.front());
    queue_.pop_front();
  }
  // One that never began does not have the turn: somebody else may.
  if (first->collective) busy_.store(false, std::memory_order_release);
  num_queued_.fetch_sub(1, std::memory_order_release);
  first->completion->settle(std::move(outcome));
}

bool CallQueue::break_off() {
  bool any = false;
  while (true) {
    Queued* first = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (!queue_.empty()) first = queue_.front().get();
    }
    if (first == nullptr) return any;
    any = true;
    Collective* collective = first->collective ? &*first->collective : nullptr;
    if (collective != nullptr) collective->give_up();
    finish_first(broken_off(first->call, collective, first->sequence));
  }
}

TimePoint CallQueue::wanted_at() const {
  const std::lock_guard lock(mutex_);
  TimePoint first = TimePoint::max();
  for (const auto& queued : queue_) first = std::min(first, queued->completion->deadline());
  return first;
}

std::string CallQueue::context(const Call& call, std::uint64_t sequence) const {
  const std::string number = sequence == 0 ? "a call" : fmt::format("call {}", sequence);
  return fmt::format("rank {}: {}, {} of group '{}' (generation {})", facts_.rank, call.text(), number,
                     facts_.name, facts_.generation);
}

Error CallQueue::timed_out(const Call& call, const Collective* collective, std::uint64_t sequence) const {
  std::string what = "it did not end in time";
  if (collective != nullptr) {
    const std::vector<int> absent = collective->not_arrived();
    const std::vector<int> slow = collective->waited_for();
    if (!absent.empty()) {
      what = ranks_have(absent) + " not arrived";
    } else if (!slow.empty()) {
      what = ranks_have(slow) + " arrived but not gone on";
    }
  }
  return Error(ErrorCode::kTimedOut, what)
      .within(context(call, sequence))
      .with_remedy("Look what that rank does instead, or give the call a longer limit.");
}

Error CallQueue::broken_off(const Call& call, const Collective* collective, std::uint64_t sequence) {
  std::optional<Error> cause = failure_.error();
  if (!cause) cause = Error(ErrorCode::kAborted, "the group was closed");
  std::string where = context(call, sequence);
  if (collective != nullptr) {
    if (const std::vector<int> absent = collective->not_arrived(); !absent.empty()) {
      where += ", where " + ranks_have(absent) + " not arrived";
    }
  }
  const Error error = cause->within(std::move(where));
  return failure_.has_failed() ? error : fail(error);  // a member that left, and was needed
}

Error CallQueue::disagreed(const Call& call, const Collective& collective, std::uint64_t sequence) const {
  return Error(ErrorCode::kUsage, "the ranks do not make the same call: " + *collective.fault())
      .within(context(call, sequence))
      .with_remedy(
          "Let every rank of the group make the same calls in the same order, with the same sizes and "
          "types.");
}

Error CallQueue::fail(const Error& error) {
  if (failure_.fail(error)) hooks_.tell_others(error);
  return error;
}

}  // namespace cohort::comm
