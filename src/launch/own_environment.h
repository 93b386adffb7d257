#pragma once

#include "launch/rank_variables.h"

namespace cohort {

/// The environment of this process, as it is now.
///
/// Threads: not while another thread changes the environment.
EnvironmentVariables own_environment();

}  // namespace cohort
