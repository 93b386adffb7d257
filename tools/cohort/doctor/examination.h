#pragma once

#include "config/config.h"
#include "machine/diagnose.h"
#include "session.h"

namespace cohort::tool {

/// What this machine has. What is read and run on the way is told to the log of the job.
machine::Survey examine(const Session& session, const Config& config);

/// What the job wants from one host.
machine::Wishes wishes_of(const Config& config);

}  // namespace cohort::tool
