#include "comm/probe_line.h"

#include <fmt/format.h>

namespace cohort::comm {

Status check_peer(const Communicator& group, int peer) {
  if (peer >= 0 && peer < group.world() && peer != group.rank()) return {};
  return Error(ErrorCode::kUsage, fmt::format("rank {} of {} cannot measure its way to rank {}", group.rank(),
                                              group.world(), peer))
      .with_remedy("Name another rank of the group.");
}

}  // namespace cohort::comm
