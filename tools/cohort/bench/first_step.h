#pragma once

#include "base/result.h"
#include "bench/step_contenders.h"
#include "session.h"

#include <chrono>
#include <string>

namespace cohort::tool {

/// From the start of `cohort train` with a job of this model until its first step is done.
/// Failure: names what the job wrote last.
Result<std::chrono::nanoseconds> our_first_step(const StepCell& cell, const Session& session,
                                                const std::string& folder);

/// The same for torchrun and the script of torch with the same model and batch.
Result<std::chrono::nanoseconds> torch_first_step(const StepCell& cell, const StepPeers& peers,
                                                  const std::string& folder);

}  // namespace cohort::tool
