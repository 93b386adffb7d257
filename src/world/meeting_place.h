#pragma once

#include "base/result.h"
#include "launch/environment.h"
#include "net/job_key.h"
#include "net/meeting.h"

#include <memory>

namespace cohort::world {

/// The key of the job, from where the launcher says it is. kUsage if it does not say.
Result<net::JobKey> job_key(const LaunchFacts& facts);

/// Where the ranks of several hosts meet, as the launcher says: at its own server, in a directory, or at an
/// address where rank 0 serves.
Result<std::unique_ptr<net::Meeting>> open_meeting(const LaunchFacts& facts, const net::JobKey& key);

}  // namespace cohort::world
