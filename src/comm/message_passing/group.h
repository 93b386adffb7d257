#pragma once

#include "comm/group/communicator.h"
#include "comm/message_passing/any_rank_matcher.h"
#include "comm/message_passing/inbox.h"
#include "comm/message_passing/line.h"
#include "comm/message_passing/plan.h"
#include "comm/message_passing/roll_call.h"
#include "comm/message_passing/scratch_pool.h"
#include "comm/progress/progress.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

namespace cohort::comm {

/// How the calls of a group are planned, and how long the group looks for the reason of a failure.
struct MessagePassingOptions {
  PlanOptions plan{};
  /// The time after a deadline in which other ranks may answer whether they have arrived; and the time after
  /// a message that does not fit in which another rank may report the cause.
  std::chrono::nanoseconds grace = std::chrono::milliseconds(200);
  /// Called once when the group has failed, on the progress thread.
  std::function<void(const Error&)> on_failure{};
};

/// The calls of one group on one rank, all in flight at the same time, advanced by the progress thread.
///
/// Threads: start(), abort() and failure() from any thread; events of other threads go through the inbox.
/// Only advance() touches flights, and leave(), once the group is no longer advanced.
/// Lifetime: the exchange, the runner and the clock must outlive it. leave() must be called when the group
/// is no longer advanced.
/// Failure: the first failure is final: it ends all calls in flight, and the other ranks are notified. A
/// rank that is lost or has left ends the calls that need it; calls in which it has done its part continue.
class Group final : public Task, private Waiter {
 public:
  Group(Exchange& exchange, TaskRunner& runner, GroupFacts facts, Line::Membership membership,
        MessagePassingOptions options);

  Work start(const Call& call);
  void abort(const Error& cause);
  std::optional<Error> failure() const;
  /// Settles all calls and tells the other ranks; does not wait for them.
  void leave();

  bool advance() override;
  TimePoint wanted_at() const override;

  Exchange& exchange() { return line_.exchange(); }
  TaskRunner& runner() { return runner_; }
  const Line::Membership& membership() const { return line_.membership(); }
  const MessagePassingOptions& options() const { return options_; }

 private:
  std::string waiting_call() const override;

  struct Gone {
    bool has_left = false;            // it said so; otherwise it is lost
    std::uint64_t num_completed = 0;  // calls in which it has done its part
    Error why;
  };
  struct Suspicion {
    Error why;
    TimePoint until;
  };
  using Flights = std::map<std::uint64_t, std::unique_ptr<Flight>>;

  std::unique_ptr<Flight> make_flight(const Call& call, Schedule&& schedule,
                                      std::shared_ptr<Completion> completion);

  void handle(std::unique_ptr<Flight>& flight);
  void handle(const Landed& landed);
  void handle(const Noticed& noticed);
  void handle(const Lost& lost);
  void handle(const Ended& ended);
  void handle(const Asked& asked);
  void handle(const Answered& answered);
  void handle(FromAnyBegan& began);

  std::optional<std::uint64_t> matcher_for(const Call& call);
  void take_description(AnyRankMatcher& matcher, const Landed& landed);
  void match(AnyRankMatcher& matcher);
  void settle_if_done(std::uint64_t id);
  void fault(Flight& flight, int ticket, const Error& why);
  void suspect(const Flight& flight, const Error& why);
  void mark_gone(int rank, Gone gone);
  bool is_hopeless(const Flight& flight, int rank) const;
  bool waits_for_no_rank(const Flight& flight) const;
  Error loss_text() const;

  bool look_at_the_time();
  bool judge_roll_call();
  Error absence(const Flight& flight) const;

  void fail(const Flight& flight, const Error& why);
  void fail_as_told(const Error& why);
  void wind_up();
  void end(const Error& why, const Notice& notice);
  void settle_all(const Error& why);
  std::uint64_t num_completed() const;
  std::string text(const Flight& flight) const;
  Error ended(const Flight& flight, const Error& why) const;

  TaskRunner& runner_;
  const Clock& clock_;
  const GroupFacts facts_;
  const MessagePassingOptions options_;
  const std::shared_ptr<Inbox> inbox_;
  const std::shared_ptr<ScratchPool> scratch_pool_ = std::make_shared<ScratchPool>();
  Line line_;

  // Guards the members up to matcher_of_tag_. start() holds it while it posts, so that numbers come in order.
  mutable std::mutex mutex_;
  std::optional<Error> failure_;
  bool is_told_ = false;  // the other ranks know the failure
  std::uint64_t next_id_ = 0;
  std::uint64_t num_started_ = 0;
  std::map<std::tuple<Operation, int, std::uint32_t>, std::uint64_t> num_messages_;
  std::map<std::uint32_t, std::uint64_t> matcher_of_tag_;

  // Used by the progress thread only.
  Flights flights_;
  std::map<std::uint64_t, AnyRankMatcher> matchers_;
  std::map<int, Gone> gone_;
  std::optional<int> first_gone_;
  std::map<std::uint64_t, Suspicion> suspicions_;
  std::map<int, std::vector<std::uint64_t>> unsent_;  // per rank: flights whose send to it has failed
  std::optional<RollCall> roll_call_;
  std::optional<std::uint64_t> failed_flight_;  // the failure describes this flight already
  bool ends_quietly_ = false;                   // its generation is over: no failure that others are told of
  bool is_watching_ = false;
  bool is_over_ = false;
};

}  // namespace cohort::comm
