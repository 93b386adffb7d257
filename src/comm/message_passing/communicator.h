#pragma once

#include "comm/group/communicator.h"
#include "comm/group/group_numbers.h"
#include "comm/group/host_groups.h"
#include "comm/message_passing/group.h"
#include <cohort/default_limit.h>

#include <memory>
#include <string>

namespace cohort::comm {

/// A communicator whose collectives are schedules of messages over an exchange. A group of ranks that share a
/// host, split off from it, is a communicator of HostGroups, if there are any.
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
  static constexpr std::uint32_t kFirstSplitGroup = 3;

  struct Options {
    std::string name = "world";
    std::uint32_t group = kWorldGroup;  ///< groups in use at the same time have different numbers
    std::uint32_t generation = 0;
    std::chrono::nanoseconds limit = DefaultLimit::kCall;
    std::shared_ptr<const GenerationEnd> end{};  ///< as in GroupFacts
    std::string kind = "message passing";        ///< as traits() says it
    MessagePassingOptions message_passing{};
    /// Owns exchange and runner, if they are to live as long as any of the groups.
    std::shared_ptr<void> foundation{};
    std::shared_ptr<Engine> engine{};  ///< as engine() returns it
    /// Makes the groups of ranks that share a host. Null: these groups pass messages, too.
    std::shared_ptr<HostGroups> host_groups{};
    /// The numbers of groups, from kFirstSplitGroup on; null: this world has its own.
    std::shared_ptr<GroupNumbers> numbers{};
  };

  /// The group of all members of the exchange, which must be open and among the tasks of `runner`.
  static Result<std::unique_ptr<Communicator>> make_world(Exchange& exchange, TaskRunner& runner,
                                                          Options options);
  ~MessagePassingCommunicator() override;

  CommunicatorTraits traits() const override {
    return {.kind = kind_, .abortable = true, .zero_copy = false};
  }
  std::vector<int> hosts() const override;
  std::unique_ptr<Mailbox> open_mailbox() override;
  void abort(const Error& cause) override { group_.abort(cause); }
  std::optional<Error> failure() const override { return group_.failure(); }
  std::shared_ptr<Engine> engine() const override { return engine_; }

 protected:
  Status do_run(const Call& call) override { return group_.start(call.within(limit_of(call))).wait(); }
  Work do_start(const Call& call) override { return group_.start(call); }
  Result<std::unique_ptr<Communicator>> do_split(const GroupFacts& facts,
                                                 const std::vector<int>& members) override;

 private:
  struct Parts {
    Exchange& exchange;
    TaskRunner& runner;
    std::shared_ptr<GroupNumbers> numbers;
    std::shared_ptr<HostGroups> host_groups;
    MessagePassingOptions options;
    std::string kind;
    std::shared_ptr<void> foundation;
    std::shared_ptr<Engine> engine;
  };
  MessagePassingCommunicator(const Parts& parts, const GroupFacts& facts, Line::Membership membership);

  bool share_a_host(const std::vector<int>& members) const;
  std::unique_ptr<Communicator> part_of(const GroupFacts& facts, std::uint32_t number,
                                        const std::vector<int>& ranks);

  const std::shared_ptr<void> foundation_;
  const std::shared_ptr<Engine> engine_;
  const std::shared_ptr<GroupNumbers> numbers_;
  const std::shared_ptr<HostGroups> host_groups_;
  const std::string kind_;
  Group group_;
};

}  // namespace cohort::comm
