#include "world/hosts_options.h"

#include "comm/message_passing/plan.h"
#include "net/station.h"

#include <fmt/format.h>

namespace cohort::world {

Status check_links(const LinkSettings& settings) {
  const std::string wire = settings.wire.value_or("same");
  if (!comm::wire_dtype_named(wire)) {
    return Error(ErrorCode::kUsage, fmt::format("wire type '{}' is not known", wire))
        .with_remedy("Use one of same, bf16, f16.");
  }
  const int sockets = settings.sockets.value_or(0);
  if (sockets < 0 || sockets > net::kMostRails) {
    return Error(ErrorCode::kUsage, fmt::format("number of sockets between two ranks is {}, expected 0 … {}",
                                                sockets, net::kMostRails))
        .with_remedy(
            fmt::format("Use 1 to {}, or 0 for the number that was measured to be faster.", net::kMostRails));
  }
  return comm::check_plan_options(
      {.algorithm = settings.algorithm.value_or(""), .chunk_bytes = settings.chunk_bytes.value_or(0)});
}

}  // namespace cohort::world
