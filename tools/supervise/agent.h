#pragma once

#include "base/result.h"

namespace cohort::supervise {

/// Runs ranks on this host for a launcher on another host. Reads the plan from `input`; writes the output and
/// the exit status of the ranks to `output`. When the launcher ends or the connection breaks, `input` reaches
/// its end and the agent ends the ranks.
///
/// Threads: one; call once per process, because the working directory changes.
/// Failure: kCorrupt for a plan that cannot be decoded, kAborted when the launcher cannot be written to.
/// Ranks that could not be started are reported to the launcher.
Status run_agent(int input, int output);

}  // namespace cohort::supervise
