#pragma once

#include "base/result.h"
#include "launch/environment.h"
#include "net/job_key.h"
#include "net/meeting.h"

#include <memory>

namespace cohort::world {

/// Reads the key of the job from the file or descriptor that the launcher named. kUsage if it named neither.
Result<net::JobKey> job_key(const LaunchFacts& facts);

/// Opens the meeting for ranks of several hosts at the rendezvous that the launcher named: the launcher's
/// server, a shared directory, or a server in rank 0. kUsage without a rendezvous.
Result<std::unique_ptr<net::MeetingWithBoard>> open_meeting(const LaunchFacts& facts, const net::JobKey& key);

}  // namespace cohort::world
