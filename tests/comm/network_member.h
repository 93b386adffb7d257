#pragma once

#include "comm/message_passing/communicator.h"
#include "comm/message_passing_member.h"

namespace cohort::test {

/// One rank of a network and its communicator of the group of all ranks. The liveness limit is long, because
/// virtual time passes fast.
class NetworkMember {
 public:
  NetworkMember(const Network& network, int member)
      : member_(network.take(member), network, member, {.liveness = std::chrono::minutes(5)}),
        group_(value_or_throw(
            comm::MessagePassingCommunicator::make_world(member_.exchange, member_.progress, {}))) {}

  Communicator& group() { return *group_; }

 private:
  MessagePassingMember member_;
  const std::unique_ptr<Communicator> group_;
};

}  // namespace cohort::test
