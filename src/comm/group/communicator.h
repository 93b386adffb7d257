#pragma once

#include "comm/group/call.h"
#include "comm/group/call_trace.h"
#include "comm/group/engine.h"
#include "comm/group/mailbox.h"
#include "comm/group/work.h"
#include <cohort/default_limit.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort {

/// Properties of a kind of communicator.
struct CommunicatorTraits {
  std::string kind{};      ///< `shared memory`, `loopback`, …
  bool abortable = true;   ///< a failure ends pending calls; otherwise only the end of the process does
  bool zero_copy = false;  ///< numbers in the arena are not copied
};

/// A group as one of its ranks sees it.
struct GroupFacts {
  std::string name = "world";
  int rank = 0;
  int world = 1;
  std::uint32_t generation = 0;
  std::chrono::nanoseconds limit = DefaultLimit::kCall;  ///< timeout of a call that has none of its own
  std::shared_ptr<const comm::GenerationEnd> end{};  ///< null: the generation is never followed by another
  /// By rank: the rank in the group of all ranks of the generation. Empty: the same numbers.
  std::vector<int> global_ranks{};

  /// A rank of this group as errors name it.
  int global_rank(int of_group) const {
    return global_ranks.empty() ? of_group : global_ranks[static_cast<std::size_t>(of_group)];
  }
  std::vector<int> global(std::vector<int> of_group) const;
  /// This rank as errors name it.
  int own_global_rank() const { return global_rank(rank); }
  /// The call in words, its peer by its global rank.
  std::string text_of(const Call& call) const;
};

/// A group of ranks that make calls together, as an MPI communicator. Every rank makes the same calls in the
/// same order; the number of a call in that order is its sequence number. Each kind documents the order in
/// which it combines numbers; the same call gives the same bits in every run.
///
///     COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(gradients))));
///     Work work = group.start(broadcast(weights, 0));
///
/// Threads: every method from any thread. The order of calls must be the same on all ranks, so use one group
/// from one thread; different groups may be used at the same time from different threads.
/// Lifetime: all Work is settled when the destructor returns. The destructor does not wait for other ranks:
/// ranks that still wait for this one are told that it left.
/// Failure: the first failure sticks: it ends pending calls, and every later call returns it. It names rank,
/// operation, sequence number, generation and the ranks that have not arrived. Ranks in errors are global
/// ranks, numbered in the group of all ranks of the generation, in groups that were split off, too: whoever
/// passes an error on to another group passes on ranks that mean the same there. A mistake that check_call()
/// finds does not stick, and names ranks as the call does. Calls of a group whose world has formed a later
/// generation return kStale.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return facts_.rank; }
  int size() const { return facts_.world; }
  std::uint32_t generation() const { return facts_.generation; }
  const std::string& group_name() const { return facts_.name; }
  const GroupFacts& facts() const { return facts_; }
  /// A rank of this group as errors name it: its number in the group of all ranks of the generation.
  int global_rank(int of_group) const { return facts_.global_rank(of_group); }
  virtual CommunicatorTraits traits() const = 0;
  /// The host of each rank, as a number: ranks of one host that are split off share memory. Empty where ranks
  /// share no memory, or it is not known which do.
  virtual std::vector<int> hosts() const { return {}; }

  /// Makes the call and waits for its end.
  Status run(const Call& call);
  /// Starts the call, which proceeds in the background.
  comm::Work start(const Call& call);

  /// From now on the times of calls are recorded there; null: nowhere. Set it while no call runs.
  void set_trace(std::shared_ptr<comm::CallTrace> trace) { trace_ = std::move(trace); }
  const std::shared_ptr<comm::CallTrace>& trace() const { return trace_; }

  /// Every rank of the group calls this; ranks with the same colour form a group, ordered by (key, rank). A
  /// rank without a colour is in no new group and gets null.
  Result<std::unique_ptr<Communicator>> split(std::optional<int> colour, int key, const std::string& name);

  /// The address at which this rank sees memory of the rank `owner`. Every rank calls this; only the owner's
  /// `mine` counts, which must lie in the arena. Null where ranks do not share memory.
  /// Lifetime: until the owner frees the memory or the communicator is destroyed.
  virtual Result<std::byte*> see(int owner, std::span<std::byte> mine);

  /// Requests between all members of the job, which are numbered as the ranks of the first group. A job has
  /// one mailbox at a time.
  /// Lifetime: must be destroyed before the last communicator of the job in this process.
  virtual std::unique_ptr<Mailbox> open_mailbox() = 0;

  /// Ends all pending calls with this cause, on this rank now and on the others soon. Does not wait. Has no
  /// effect after another failure.
  virtual void abort(const Error& cause) = 0;
  /// The failure that sticks, if there is one.
  virtual std::optional<Error> failure() const = 0;
  /// The engine below all groups of this generation; null for a kind that cannot form another generation.
  virtual std::shared_ptr<comm::Engine> engine() const { return nullptr; }

 protected:
  explicit Communicator(GroupFacts facts) : facts_(std::move(facts)) {}

  /// Whether do_run() itself passes results to consumers, piece by piece as they arrive.
  virtual bool hands_over() const { return false; }
  /// The call has been checked. Its timeout is limit_of(call).
  virtual Status do_run(const Call& call) = 0;
  /// The call has been checked, and has a timeout of its own.
  virtual comm::Work do_start(const Call& call) = 0;
  std::chrono::nanoseconds limit_of(const Call& call) const { return call.limit.value_or(facts_.limit); }
  /// Called on every rank of this group. `members`: ranks of this group in the order of the new group; empty
  /// if this rank is in no new group.
  virtual Result<std::unique_ptr<Communicator>> do_split(const GroupFacts& facts,
                                                         const std::vector<int>& members) = 0;

 private:
  /// kUsage for a mistake in the call, kStale if the generation is over.
  Status check(const Call& call) const;
  Status run_checked(const Call& call);
  comm::Work start_checked(const Call& call);

  const GroupFacts facts_;
  std::shared_ptr<comm::CallTrace> trace_;
};

}  // namespace cohort
