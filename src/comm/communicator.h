#pragma once

#include "comm/call.h"
#include "comm/mailbox.h"
#include "comm/work.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace cohort {

/// What a kind of communicator can do.
struct CommunicatorTraits {
  std::string kind{};      ///< `shared memory`, `loopback`, …
  bool abortable = true;   ///< a failure ends pending calls; otherwise only the end of the process does
  bool zero_copy = false;  ///< numbers in the arena are not copied on the way
};

/// Who talks in a group, and how long they wait for each other.
struct GroupFacts {
  std::string name = "world";
  int rank = 0;
  int world = 1;
  std::uint32_t generation = 0;
  std::chrono::nanoseconds limit = std::chrono::seconds(30);  ///< of a call that has none of its own
};

/// What a group of ranks computes together. Every rank makes the same calls in the same order; the number of
/// a call in that order is its sequence number. Each kind documents the order in which it combines numbers;
/// the same call gives the same bits in every run.
///
///     COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(gradients))));
///     Work work = group.start(broadcast(weights, 0));
///
/// Threads: every method from any thread; but the order of calls must be the same on all ranks, so one group
/// is best used from one thread. Different groups may be used at the same time from different threads.
/// Lifetime: all Work is settled when the destructor returns. The destructor does not communicate: whoever
/// still waits for this rank is told that it left.
/// Failure: the first failure sticks: it ends what is pending, and every later call returns it. It names
/// rank, operation, sequence number, generation and who has not arrived. A mistake that check_call() finds
/// does not stick.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return facts_.rank; }
  int world() const { return facts_.world; }
  std::uint32_t generation() const { return facts_.generation; }
  const std::string& group_name() const { return facts_.name; }
  const GroupFacts& facts() const { return facts_; }
  virtual CommunicatorTraits traits() const = 0;

  /// Makes the call and waits for its end.
  Status run(const Call& call);
  /// Makes the call; it goes on by itself.
  Work start(const Call& call);

  /// Every rank of the group calls this; those with the same colour become a group, ordered by (key, rank).
  /// No colour: this rank is in none of them and gets null.
  Result<std::unique_ptr<Communicator>> split(std::optional<int> colour, int key, const std::string& name);

  /// Memory of the rank `owner` as this rank sees it: every rank calls this, and `mine` counts on the owner
  /// alone, where it lies in the arena. Null where ranks do not share memory. Lifetime: until the owner gives
  /// the memory back or this dies.
  virtual Result<std::byte*> see(int owner, std::span<std::byte> mine);

  /// Requests between all members of the job, by their ranks in the first group. One at a time for each job.
  /// Lifetime: must die before the last communicator of the job here.
  virtual std::unique_ptr<Mailbox> open_mailbox() = 0;

  /// Ends everything that is pending, on this rank now and on the others soon, with this cause. From any
  /// thread; does not wait. Has no effect after another failure.
  virtual void abort(const Error& cause) = 0;
  /// The failure that sticks, if there is one.
  virtual std::optional<Error> failure() const = 0;

 protected:
  explicit Communicator(GroupFacts facts) : facts_(std::move(facts)) {}

  /// Whether do_run() gives results to consumers itself, as they come.
  virtual bool hands_over() const { return false; }
  /// The call was checked. It may have no limit of its own: see limit_of().
  virtual Status do_run(const Call& call) = 0;
  /// The call was checked, and has a limit.
  virtual Work do_start(const Call& call) = 0;
  std::chrono::nanoseconds limit_of(const Call& call) const { return call.limit.value_or(facts_.limit); }
  /// Every rank of `parent` calls this at the same point. `members`: ranks of this group in the order of the
  /// new one; empty if this rank is in none.
  virtual Result<std::unique_ptr<Communicator>> do_split(const GroupFacts& facts,
                                                         const std::vector<int>& members) = 0;

 private:
  const GroupFacts facts_;
};

}  // namespace cohort
