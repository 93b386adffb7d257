#pragma once

#include "base/result.h"
#include "launch/variable_reader.h"
#include <cohort/link_settings.h>

namespace cohort::launch {

/// What the environment says of how ranks talk: COHORT_ENGINE, COHORT_ALGORITHM, COHORT_CHUNK, COHORT_WIRE,
/// COHORT_SOCKETS, COHORT_EXPLAIN. An empty one says nothing.
///
/// Failure: kUsage with variable, value and choices.
Result<LinkSettings> read_link_settings(const VariableReader& variables);

/// The same as variables, for ranks.
EnvironmentVariables link_variables(const LinkSettings& settings);

}  // namespace cohort::launch
