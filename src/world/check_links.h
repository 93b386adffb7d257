#pragma once

#include "base/result.h"
#include <cohort/link_settings.h>

namespace cohort::world {

/// kUsage, with what there is, for an algorithm, a chunk, a wire type or a number of sockets that there is
/// not.
Status check_links(const LinkSettings& settings);

}  // namespace cohort::world
