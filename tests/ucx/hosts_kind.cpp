// The conformance suite for ranks of several hosts with backend ucx: rings inside a host, UCX between hosts,
// two ranks on each.

#include "comm/conformance/message_passing_kind.h"
#include "comm/joined_network.h"

namespace cohort::test {
namespace {

Network ucx_hosts(int n) {
  return network_of(std::make_shared<JoinedNetwork<UcxNetwork>>(hosts_of_two(n)));
}

}  // namespace

std::vector<Kind> all_kinds() {
  if (!UcxNetwork::is_there()) return {};
  Kind kind = message_passing_kind({"hosts_ucx", ucx_hosts});
  kind.largest_world = 4;  // two hosts: more hosts add no new case
  return {kind};
}

}  // namespace cohort::test
