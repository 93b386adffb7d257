#include "world/check_links.h"

#include "comm/scheduled/plan.h"
#include "net/station.h"

#include <fmt/format.h>

namespace cohort::world {

Status check_links(const LinkSettings& settings) {
  const std::string wire = settings.wire.value_or("same");
  if (!comm::wire_dtype_named(wire)) {
    return Error(ErrorCode::kUsage, fmt::format("sums cannot travel as '{}'", wire))
        .with_remedy("Name one of same, bf16, f16.");
  }
  const int sockets = settings.sockets.value_or(0);
  if (sockets < 0 || sockets > net::kMostLanes) {
    return Error(ErrorCode::kUsage, fmt::format("two ranks cannot be joined by {} sockets", sockets))
        .with_remedy(fmt::format("Use 1 to {}, or 0 for what is faster.", net::kMostLanes));
  }
  return comm::check_plan_options(
      {.algorithm = settings.algorithm.value_or(""), .chunk_bytes = settings.chunk_bytes.value_or(0)});
}

}  // namespace cohort::world
