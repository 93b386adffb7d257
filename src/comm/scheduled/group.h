#pragma once

#include "comm/communicator.h"
#include "comm/progress.h"
#include "comm/scheduled/ears.h"
#include "comm/scheduled/inbox.h"
#include "comm/scheduled/line.h"
#include "comm/scheduled/plan.h"
#include "comm/scheduled/roll_call.h"
#include "comm/scheduled/scratch_pool.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

namespace cohort::comm {

/// How the calls of a scheduled group are planned and how long it looks for the reason of a failure.
struct ScheduledOptions {
  PlanOptions plan{};
  /// How long, after a deadline, the others are asked whether they have arrived; and how long, after a
  /// message that does not fit, somebody may say what is wrong.
  std::chrono::nanoseconds grace = std::chrono::milliseconds(200);
  /// Called once when the group has failed, on the progress thread.
  std::function<void(const Error&)> on_failure{};
};

/// The calls of one group on one rank, all under way at the same time, moved on by the progress thread.
///
/// Threads: start(), abort() and failure() from any thread. What happens elsewhere is left in the inbox;
/// flights are touched by advance() only, and by leave() when nobody advances any more.
/// Lifetime: the exchange, the runner and the clock must outlive it. leave() must be called when it is no
/// longer advanced.
/// Failure: the first one sticks: everything under way ends with it, the others are told. A rank that is lost
/// or left ends what cannot be done without it; what it had done its part in goes on.
class Group final : public Task {
 public:
  Group(Exchange& exchange, TaskRunner& runner, GroupFacts facts, Line::Place place,
        ScheduledOptions options);

  Work start(const Call& call);
  void abort(const Error& cause);
  std::optional<Error> failure() const;
  /// Settles everything and tells the others; does not wait for them.
  void leave();

  bool advance() override;
  TimePoint wanted_at() const override;

  Exchange& exchange() { return line_.exchange(); }
  TaskRunner& runner() { return runner_; }
  const Line::Place& place() const { return line_.place(); }
  const ScheduledOptions& options() const { return options_; }

 private:
  struct Gone {
    bool has_left = false;            // told so; otherwise lost
    std::uint64_t num_completed = 0;  // calls it has done its part in
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
  void handle(const Asked& asked);
  void handle(const Answered& answered);
  void handle(Pricked& pricked);

  std::optional<std::uint64_t> ears_for(const Call& call);
  void hear(Ears& ears, const Landed& landed);
  void match(Ears& ears);
  void settle_if_done(std::uint64_t id);
  void fault(Flight& flight, int ticket, const Error& why);
  void suspect(const Flight& flight, const Error& why);
  void mark_gone(int rank, Gone gone);
  bool is_hopeless(const Flight& flight, int rank) const;
  bool waits_for_nobody(const Flight& flight) const;
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
  const ScheduledOptions options_;
  const std::shared_ptr<Inbox> inbox_;
  const std::shared_ptr<ScratchPool> scratch_pool_ = std::make_shared<ScratchPool>();
  Line line_;

  mutable std::mutex mutex_;  // guards these; start() holds it while it posts, so that numbers come in order
  std::optional<Error> failure_;
  bool is_told_ = false;  // the others know the failure
  std::uint64_t next_id_ = 0;
  std::uint64_t num_started_ = 0;
  std::map<std::tuple<Operation, int, std::uint32_t>, std::uint64_t> num_messages_;
  std::map<std::uint32_t, std::uint64_t> ears_of_tags_;

  // Of the progress thread.
  Flights flights_;
  std::map<std::uint64_t, Ears> ears_;
  std::map<int, Gone> gone_;
  std::optional<int> first_gone_;
  std::map<std::uint64_t, Suspicion> suspicions_;
  std::optional<RollCall> roll_call_;
  std::optional<std::uint64_t> failed_flight_;  // its own words are in the failure already
  bool is_watching_ = false;
  bool is_over_ = false;
};

}  // namespace cohort::comm
