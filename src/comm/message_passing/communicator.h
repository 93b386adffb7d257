#pragma once

#include "comm/group/communicator.h"
#include "comm/message_passing/group.h"
#include <cohort/default_limit.h>

#include <atomic>
#include <memory>
#include <string>

namespace cohort::comm {

/// A communicator whose collectives are schedules of messages over an exchange.
///
/// Threads: as Communicator. Callbacks of Work run on the progress thread.
/// Lifetime: exchange, runner and clock must outlive it and all groups split from it. Must not be destroyed
/// in a callback.
/// Failure: as Communicator. A rank whose exchange is closed is lost to every group it is in.
/// Cost: one small message to the next rank for each collective call, besides those of the schedule.
class MessagePassingCommunicator final : public Communicator {
 public:
  /// Numbers of groups that are not made by splitting. 0 belongs to messages outside any group.
  static constexpr std::uint32_t kWorldGroup = 1;
  static constexpr std::uint32_t kLinksGroup = 2;  ///< all members, to measure links before the world is made

  struct Options {
    std::string name = "world";
    std::uint32_t group = kWorldGroup;  ///< groups in use at the same time have different numbers
    std::uint32_t generation = 0;
    std::chrono::nanoseconds limit = DefaultLimit::kCall;
    std::string kind = "message passing";  ///< as traits() says it
    MessagePassingOptions message_passing{};
    /// Owns exchange and runner, if they are to live as long as any of the groups.
    std::shared_ptr<void> foundation{};
  };

  /// The group of all members of the exchange, which must be open and among the tasks of `runner`.
  static Result<std::unique_ptr<Communicator>> make_world(Exchange& exchange, TaskRunner& runner,
                                                          Options options);
  ~MessagePassingCommunicator() override;

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
  // The count of group numbers that this member has given out; shared by all groups of one exchange.
  using Numbering = std::atomic<std::uint32_t>;
  struct Parts {
    Exchange& exchange;
    TaskRunner& runner;
    std::shared_ptr<Numbering> numbering;
    MessagePassingOptions options;
    std::string kind;
    std::shared_ptr<void> foundation;
  };
  MessagePassingCommunicator(const Parts& parts, const GroupFacts& facts, Line::Membership membership);

  Result<std::uint32_t> agree_on_group();

  const std::shared_ptr<void> foundation_;
  const std::shared_ptr<Numbering> numbering_;
  const std::string kind_;
  Group group_;
};

}  // namespace cohort::comm
