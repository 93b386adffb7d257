// The conformance suite for ranks of several hosts with backend ucx: rings inside a host, UCX between hosts,
// two ranks on each.

#include "comm/conformance/message_passing_kind.h"
#include "comm/joined_network.h"

namespace cohort::test {
namespace {

Network ucx_hosts(int n) {
  const auto network = std::make_shared<JoinedNetwork<UcxNetwork>>(hosts_of_two(n));
  return {[network](int member) { return network->take(member); },
          [network]() -> Clock& { return network->clock(); },
          [network](int member) { return network->make_doorbell(member); }, network->hosts()};
}

}  // namespace

std::vector<Kind> all_kinds() {
  if (!UcxNetwork::is_there()) return {};
  Kind kind = message_passing_kind({"hosts_ucx", ucx_hosts});
  kind.largest_world = 4;  // two hosts: more hosts add no new case
  return {kind};
}

}  // namespace cohort::test
