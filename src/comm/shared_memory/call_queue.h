#pragma once

#include "comm/communicator.h"
#include "comm/group_failure.h"
#include "comm/progress.h"
#include "comm/shared_memory/collective.h"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace cohort::comm {

/// The calls of one group in their order. One collective of a group goes on at a time: either a blocking call
/// on its caller's thread, or the first of the queue on the progress thread.
///
/// Threads: every method from any thread; advance() as of every task.
/// Lifetime: the group's view, failure and neighbours must outlive it.
class CallQueue final : public Task {
 public:
  struct Hooks {
    std::function<void(const Error&)> tell_others{};  ///< of a failure that was noticed here
    std::function<void(const Error&)> on_failure{};   ///< of any failure; on the progress thread, once
  };
  CallQueue(GroupFacts facts, GroupView view, GroupFailure& failure, Hooks hooks);
  ~CallQueue() override;

  /// The right to make a collective call now, on this thread; nothing if another call goes on or waits.
  /// Cheap.
  class Turn {
   public:
    ~Turn() {
      if (queue_ != nullptr) queue_->end_turn();
    }
    Turn(Turn&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    std::uint64_t sequence() const { return queue_->sequence_; }
    GroupView& view() const { return queue_->view_; }

   private:
    friend class CallQueue;
    explicit Turn(CallQueue* queue) : queue_(queue) {}
    CallQueue* queue_;
  };
  std::optional<Turn> try_turn() {
    if (num_queued_.load(std::memory_order_acquire) != 0 || busy_.exchange(true, std::memory_order_acquire)) {
      return std::nullopt;
    }
    ++sequence_;
    return Turn(this);
  }

  /// A collective has begun and not ended.
  bool is_busy() const { return busy_.load(std::memory_order_acquire); }

  /// Puts a call behind all others. The progress thread must know this queue.
  Work enqueue(const Call& call, const std::function<void()>& wake);
  /// Settles all that is queued with this error.
  void settle_all(const Error& error);

  bool advance() override;
  TimePoint wanted_at() const override;

  // What is said about a call that went wrong; each names rank, operation, sequence number and generation.
  std::string context(const Call& call, std::uint64_t sequence) const;
  Error timed_out(const Call& call, const Collective* collective, std::uint64_t sequence) const;
  /// The group has failed while this call was going on, or before it.
  Error broken_off(const Call& call, const Collective* collective, std::uint64_t sequence);
  Error disagreed(const Call& call, const Collective& collective, std::uint64_t sequence) const;
  /// Makes the group fail with this error, here and for the others; returns it.
  Error fail(const Error& error);

 private:
  struct Queued {
    Call call;
    std::shared_ptr<Completion> completion;
    std::uint64_t sequence = 0;
    std::optional<Collective> collective{};
  };

  void end_turn();
  bool advance_first(Queued& first);
  void finish_first(Status outcome);
  bool break_off();
  bool end_if_late();

  const GroupFacts facts_;
  GroupView view_;              // of whoever has the turn
  std::uint64_t sequence_ = 0;  // of whoever has the turn
  GroupFailure& failure_;
  const Hooks hooks_;
  bool failure_was_told_ = false;  // of the progress thread
  std::atomic<bool> busy_{false};
  std::atomic<int> num_queued_{0};

  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<Queued>> queue_;
  std::function<void()> wake_;
};

}  // namespace cohort::comm
