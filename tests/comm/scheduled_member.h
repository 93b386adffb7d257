#pragma once

#include "comm/exchange.h"
#include "comm/network_kinds.h"

#include <memory>

namespace cohort::test {

/// What one rank over a network has besides its communicators.
struct ScheduledMember {
  ScheduledMember(std::unique_ptr<comm::Transport> transport, const Network& network, int member,
                  const comm::Exchange::Options& options = {})
      : doorbell(network.make_doorbell(member)),
        exchange(std::move(transport), network.clock(), options),
        progress(*doorbell) {
    exchange.open(*doorbell);
    progress.add(exchange);
  }
  ~ScheduledMember() {
    progress.remove(exchange);
    exchange.close();
  }
  ScheduledMember(const ScheduledMember&) = delete;
  ScheduledMember& operator=(const ScheduledMember&) = delete;

  std::unique_ptr<comm::Doorbell> doorbell;
  comm::Exchange exchange;
  comm::Progress progress;
};

}  // namespace cohort::test
