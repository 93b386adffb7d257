#pragma once

#include "config/load.h"
#include <cohort/link_settings.h>

namespace cohort::config {

/// What a job says of how ranks talk, also where that is what they do anyway: what it leaves open others
/// decide.
LinkSettings links_said(const Loaded& job);

}  // namespace cohort::config
