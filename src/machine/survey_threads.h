#pragma once

#include "machine/sources.h"

namespace cohort::machine {

/// Those variables of an environment that decide about threads and memory of numerical code: thread counts,
/// waiting, and all that begin with KMP_ or MALLOC_.
Environment thread_settings(const Environment& environment);

}  // namespace cohort::machine
