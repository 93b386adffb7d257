#pragma once

#include "comm/scheduled/scheduled_communicator.h"
#include "comm/scheduled_member.h"

namespace cohort::test {

/// One rank of a network and the group of all. It waits long for signs of life: virtual time passes fast.
class NetworkMember {
 public:
  NetworkMember(const Network& network, int member)
      : member_(network.take(member), network, member, {.liveness = std::chrono::minutes(5)}),
        group_(
            value_or_throw(comm::ScheduledCommunicator::make_world(member_.exchange, member_.progress, {}))) {
  }

  Communicator& group() { return *group_; }

 private:
  ScheduledMember member_;
  const std::unique_ptr<Communicator> group_;
};

}  // namespace cohort::test
