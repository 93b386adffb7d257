#include "comm/shared_memory/call_queue.h"

#include "comm/group/rank_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::comm {

CallQueue::CallQueue(GroupFacts facts, GroupView view, GroupFailure& failure, Hooks hooks)
    : facts_(std::move(facts)), view_(std::move(view)), failure_(failure), hooks_(std::move(hooks)) {}

CallQueue::~CallQueue() {
  settle_all(
      Error(ErrorCode::kAborted, fmt::format("rank {}: group '{}' was closed before its pending calls ended",
                                             facts_.own_global_rank(), facts_.name)));
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

/// Calls that wait for their turn have deadlines, too.
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
    finish_first(outcome(first.call, collective, first.sequence));
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
  // A call that never began does not hold the turn; another call may.
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

std::optional<std::string> CallQueue::waiting_call() const {
  const std::lock_guard lock(mutex_);
  if (waiting_ != nullptr) return context(*waiting_, waiting_sequence_);
  if (!queue_.empty()) return context(queue_.front()->call, 0);
  return std::nullopt;
}

std::string CallQueue::context(const Call& call, std::uint64_t sequence) const {
  const std::string number = sequence == 0 ? "a call" : fmt::format("call {}", sequence);
  return fmt::format("rank {}: {}, {} of group '{}' (generation {})", facts_.own_global_rank(),
                     facts_.text_of(call), number, facts_.name, facts_.generation);
}

Error CallQueue::timed_out(const Call& call, const Collective* collective, std::uint64_t sequence) const {
  std::string what = "the call did not end before its deadline";
  std::optional<int> late;
  if (collective != nullptr) {
    const std::vector<int> absent = facts_.global(collective->not_arrived());
    const std::vector<int> slow = facts_.global(collective->waited_for());
    if (!absent.empty() || !slow.empty()) late = absent.empty() ? slow.front() : absent.front();
    if (!absent.empty()) {
      what = ranks_have(absent) + " not arrived";
    } else if (!slow.empty()) {
      what = ranks_have(slow) + " arrived but not made progress";
    }
  }
  const Error error = Error(ErrorCode::kTimedOut, what)
                          .within(context(call, sequence))
                          .with_remedy("Look at what that rank is doing, or give the call a longer limit.");
  return late ? error.with_rank(*late) : error;
}

Error CallQueue::broken_off(const Call& call, const Collective* collective, std::uint64_t sequence) {
  std::optional<Error> cause = failure_.error();
  if (!cause) cause = Error(ErrorCode::kAborted, "the group was closed");
  std::string where = context(call, sequence);
  if (collective != nullptr) {
    if (const std::vector<int> absent = facts_.global(collective->not_arrived()); !absent.empty()) {
      where += ", where " + ranks_have(absent) + " not arrived";
    }
  }
  const Error error = cause->within(std::move(where));
  return failure_.has_failed() ? error : fail(error);  // the call needed a member that has left
}

Error CallQueue::disagreed(const Call& call, const Collective& collective, std::uint64_t sequence) const {
  return Error(ErrorCode::kUsage, "the ranks made different calls: " + *collective.fault())
      .within(context(call, sequence))
      .with_remedy(
          "Make the same calls in the same order on every rank of the group, with equal sizes and dtypes.");
}

Status CallQueue::outcome(const Call& call, const Collective& collective, std::uint64_t sequence) {
  if (collective.fault()) return fail(disagreed(call, collective, sequence));
  if (collective.consumer_error()) return fail(collective.consumer_error()->within(context(call, sequence)));
  return {};
}

Error CallQueue::fail(const Error& error) {
  if (failure_.fail(error)) hooks_.tell_others(error);
  return error;
}

}  // namespace cohort::comm
