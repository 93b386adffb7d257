#pragma once

#include <cohort/trace.h>

#include <string>

namespace cohort {
class Context;
}

namespace cohort::tool {

/// Called before training, on rank 0.
///
/// Failure: throws if the file could not be created, and names trace.file.
void check_trace_file(const std::string& path);

/// Writes the traces of all ranks to one file, on rank 0: `{"programs": [{"rank", "step", "actions": […]}],
/// "calls": […]}`, with actions as `cohort train --dry-run --json` prints them and their times. All ranks
/// call it together.
///
/// Failure: throws on rank 0 if the file cannot be written, and on all ranks if one is lost.
void write_trace(Context& context, const Trace& trace, const std::string& path);

}  // namespace cohort::tool
