#pragma once

#include "comm/exchange/exchange.h"
#include "comm/network_kinds.h"

#include <memory>

namespace cohort::test {

/// The doorbell, exchange and progress thread of one rank, which its communicators share.
struct MessagePassingMember {
  MessagePassingMember(std::unique_ptr<comm::Transport> transport, const Network& network, int member,
                       const comm::Exchange::Options& options = {})
      : doorbell(network.make_doorbell(member)),
        exchange(std::move(transport), network.clock(), options),
        progress(*doorbell) {
    exchange.open(*doorbell);
    progress.add(exchange);
  }
  ~MessagePassingMember() {
    progress.remove(exchange);
    exchange.close();
  }
  MessagePassingMember(const MessagePassingMember&) = delete;
  MessagePassingMember& operator=(const MessagePassingMember&) = delete;

  std::unique_ptr<comm::Doorbell> doorbell;
  comm::Exchange exchange;
  comm::Progress progress;
};

}  // namespace cohort::test
