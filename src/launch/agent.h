#pragma once

#include "base/result.h"

namespace cohort::launch {

/// Runs ranks on this host for a launcher on another: reads what to run from `input`, writes what they write
/// and what becomes of them to `output`. When the launcher is gone, `input` ends, and so do the ranks.
///
/// Threads: one; may be called once per process: it changes the working directory.
/// Failure: what the launcher sent makes no sense, or it cannot be written to. That ranks could not be
/// started is told to the launcher.
Status run_agent(int input, int output);

}  // namespace cohort::launch
