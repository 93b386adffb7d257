#include "comm/conformance/kind.h"
#include "comm/conformance/scheduled_kind.h"
#include "comm/transport/loopback.h"

namespace cohort::test {
namespace {

Networks loopback() {
  return [](int world) -> TransportSource {
    return [network = comm::make_loopback(world)](int member) { return network->take(member); };
  };
}

}  // namespace

std::vector<Kind> all_kinds() {
  return {
      scheduled_kind("loopback", loopback()),
      scheduled_kind("loopback_ring", loopback(), "ring"),
      scheduled_kind("loopback_halving_doubling", loopback(), "halving_doubling"),
  };
}

}  // namespace cohort::test
