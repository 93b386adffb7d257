#pragma once

#include "comm/exchange.h"
#include "comm/network_kinds.h"
#include "comm/scheduled/scheduled_communicator.h"

#include <memory>

namespace cohort::test {

/// One rank of a network: its exchange, its progress thread and the group of all. It waits long for signs of
/// life: virtual time passes fast.
class NetworkMember {
 public:
  NetworkMember(const Network& network, int member)
      : doorbell_(network.make_doorbell(member)),
        exchange_(network.take(member), network.clock(), {.liveness = std::chrono::minutes(5)}),
        progress_(*doorbell_) {
    exchange_.open(*doorbell_);
    progress_.add(exchange_);
    group_ = value_or_throw(comm::ScheduledCommunicator::make_world(exchange_, progress_, {}));
  }
  ~NetworkMember() {
    group_.reset();
    progress_.remove(exchange_);
    exchange_.close();
  }
  NetworkMember(const NetworkMember&) = delete;
  NetworkMember& operator=(const NetworkMember&) = delete;

  Communicator& group() { return *group_; }

 private:
  std::unique_ptr<comm::Doorbell> doorbell_;
  comm::Exchange exchange_;
  comm::Progress progress_;
  std::unique_ptr<Communicator> group_;
};

}  // namespace cohort::test
