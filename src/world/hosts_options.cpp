#include "world/hosts_options.h"

#include "net/station.h"

#include <fmt/format.h>

namespace cohort::world {

static_assert(LinkSettings::kMostSockets == net::kMostRails);

Status check_links(const LinkSettings& settings) {
  if (settings.chunk_bytes && *settings.chunk_bytes < LinkSettings::kLeastChunkBytes) {
    return Error(ErrorCode::kUsage, fmt::format("chunk_bytes is {}, expected {} or more",
                                                *settings.chunk_bytes, LinkSettings::kLeastChunkBytes))
        .with_remedy("Leave LinkSettings::chunk_bytes unset for the length that is predicted to be fastest.");
  }
  if (settings.sockets && (*settings.sockets < 1 || *settings.sockets > LinkSettings::kMostSockets)) {
    return Error(ErrorCode::kUsage, fmt::format("number of sockets between two ranks is {}, expected 1 to {}",
                                                *settings.sockets, LinkSettings::kMostSockets))
        .with_remedy("Leave LinkSettings::sockets unset for the number that is measured to be faster.");
  }
  return {};
}

}  // namespace cohort::world
