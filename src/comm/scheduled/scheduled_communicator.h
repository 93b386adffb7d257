#pragma once

#include "comm/communicator.h"
#include "comm/scheduled/group.h"

#include <atomic>
#include <memory>
#include <string>

namespace cohort::comm {

/// A communicator that runs schedules over the messages of an exchange.
///
/// Threads: as Communicator. Callbacks of Work run on the progress thread.
/// Lifetime: exchange, runner and clock must outlive it and all groups split from it. Not to be destroyed
/// in a callback.
/// Failure: as Communicator. A rank whose exchange is closed is lost to every group it is in.
/// Cost: one small message to the next rank for each collective call, besides those of the schedule.
class ScheduledCommunicator final : public Communicator {
 public:
  /// Numbers of groups that are not made by splitting. 0 belongs to messages outside any group.
  static constexpr std::uint32_t kWorldGroup = 1;
  static constexpr std::uint32_t kLinksGroup = 2;  ///< of all, too: to measure before the world is made

  struct Options {
    std::string name = "world";
    std::uint32_t group = kWorldGroup;  ///< of those in use at the same time each has another one
    std::uint32_t generation = 0;
    std::chrono::nanoseconds limit = std::chrono::seconds(30);
    std::string kind = "scheduled";  ///< as traits() says it
    ScheduledOptions scheduled{};
    /// What exchange and runner are part of, if it is to live as long as any of the groups.
    std::shared_ptr<void> foundation{};
  };

  /// The group of all members of the exchange, which must be open and among the tasks of `runner`.
  static Result<std::unique_ptr<Communicator>> make_world(Exchange& exchange, TaskRunner& runner,
                                                          Options options);
  ~ScheduledCommunicator() override;

  CommunicatorTraits traits() const override {
    return {.kind = kind_, .abortable = true, .zero_copy = false};
  }
  std::unique_ptr<Mailbox> open_mailbox() override;
  void abort(const Error& cause) override { group_.abort(cause); }
  std::optional<Error> failure() const override { return group_.failure(); }

 protected:
  Status do_run(const Call& call) override { return group_.start(call.within(limit_of(call))).wait(); }
  Work do_start(const Call& call) override { return group_.start(call); }
  Result<std::unique_ptr<Communicator>> do_split(const GroupFacts& facts,
                                                 const std::vector<int>& members) override;

 private:
  // What the groups of one exchange share on one member: how many numbers for new groups it has given out.
  using Numbering = std::atomic<std::uint32_t>;
  struct Parts {
    Exchange& exchange;
    TaskRunner& runner;
    std::shared_ptr<Numbering> numbering;
    ScheduledOptions options;
    std::string kind;
    std::shared_ptr<void> foundation;
  };
  ScheduledCommunicator(const Parts& parts, const GroupFacts& facts, Line::Place place);

  Result<std::uint32_t> agree_on_group();

  const std::shared_ptr<void> foundation_;
  const std::shared_ptr<Numbering> numbering_;
  const std::string kind_;
  Group group_;
};

}  // namespace cohort::comm
