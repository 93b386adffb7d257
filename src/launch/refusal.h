#pragma once

#include <cohort/error.h>

#include "launch/spawn.h"

namespace cohort::launch {

/// What a child was doing when it found that it cannot become the program.
enum class Step : int { kParentGone, kGroup, kCores, kDirectory, kLimits, kStreams, kExec };

/// The message of such a child to whoever started it: these bytes go through a pipe of one process image.
struct Refusal {
  Step step;
  int reason;  ///< errno
};

/// The same in words, with advice.
Error refusal_error(const SpawnPlan& plan, const Refusal& refusal);

}  // namespace cohort::launch
