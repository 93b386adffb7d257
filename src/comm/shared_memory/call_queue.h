#pragma once

#include "comm/group/communicator.h"
#include "comm/group/group_failure.h"
#include "comm/progress/progress.h"
#include "comm/shared_memory/collective.h"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace cohort::comm {

/// The collective calls of one group, in order. One collective of a group runs at a time: either a blocking
/// call on its caller's thread, or the first call of the queue on the progress thread.
///
/// Threads: every method from any thread; advance() as for every Task.
/// Lifetime: the members that the view shows and the GroupFailure must outlive it.
/// Failure: the first error of a call fails the group; calls that are queued then end with it.
class CallQueue final : public Task {
 public:
  struct Hooks {
    std::function<void(const Error&)> tell_others{};  ///< called with a failure that this rank noticed first
    std::function<void(const Error&)> on_failure{};  ///< called once with any failure, on the progress thread
  };
  CallQueue(GroupFacts facts, GroupView view, GroupFailure& failure, Hooks hooks);
  ~CallQueue() override;

  /// The right to run a collective call on this thread now.
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
  /// Takes the turn; nullopt if another call runs or waits. Cheap.
  std::optional<Turn> try_turn() {
    if (num_queued_.load(std::memory_order_acquire) != 0 || busy_.exchange(true, std::memory_order_acquire)) {
      return std::nullopt;
    }
    ++sequence_;
    return Turn(this);
  }

  /// While it lives, waiting_call() tells of this call.
  class Waiting {
   public:
    Waiting(CallQueue& queue, const Call& call, std::uint64_t sequence) : queue_(queue) {
      const std::lock_guard lock(queue_.mutex_);
      queue_.waiting_ = &call;
      queue_.waiting_sequence_ = sequence;
    }
    ~Waiting() {
      const std::lock_guard lock(queue_.mutex_);
      queue_.waiting_ = nullptr;
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    CallQueue& queue_;
  };
  /// The call that waits for other ranks, for messages.
  std::optional<std::string> waiting_call() const;

  /// Whether a collective call has begun and not ended.
  bool is_busy() const { return busy_.load(std::memory_order_acquire); }

  /// Appends a call to the queue. The queue must have been added to the progress thread.
  Work enqueue(const Call& call, const std::function<void()>& wake);
  /// Ends every queued call with this error.
  void settle_all(const Error& error);

  bool advance() override;
  TimePoint wanted_at() const override;

  // Errors of a call; each names the rank, operation, sequence number, group and generation.
  std::string context(const Call& call, std::uint64_t sequence) const;
  Error timed_out(const Call& call, const Collective* collective, std::uint64_t sequence) const;
  /// The error of a call that was pending when the group failed, or that came after.
  Error broken_off(const Call& call, const Collective* collective, std::uint64_t sequence);
  /// The outcome of a collective that is over. A failure fails the group.
  Status outcome(const Call& call, const Collective& collective, std::uint64_t sequence);
  /// Fails the group with this error, here and on the other members; returns the error.
  Error fail(const Error& error);

 private:
  struct Queued {
    Call call;
    std::shared_ptr<Completion> completion;
    std::uint64_t sequence = 0;
    std::optional<Collective> collective{};
  };

  Error disagreed(const Call& call, const Collective& collective, std::uint64_t sequence) const;
  void end_turn();
  bool advance_first(Queued& first);
  void finish_first(Status outcome);
  bool break_off();
  bool end_if_late();

  const GroupFacts facts_;
  GroupView view_;              // used only by the holder of the turn
  std::uint64_t sequence_ = 0;  // used only by the holder of the turn
  GroupFailure& failure_;
  const Hooks hooks_;
  bool failure_was_told_ = false;  // used only by the progress thread
  std::atomic<bool> busy_{false};
  std::atomic<int> num_queued_{0};

  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<Queued>> queue_;
  std::function<void()> wake_;
  const Call* waiting_ = nullptr;  // the blocking call that waits, if one does
  std::uint64_t waiting_sequence_ = 0;
};

}  // namespace cohort::comm
