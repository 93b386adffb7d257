#pragma once

#include "config/load.h"

#include <string>
#include <vector>

namespace cohort::config {

/// What is wrong with a config whose values are fine one by one, as far as neither data nor ranks are needed
/// to know: each with its place, why, and what to do. Empty: nothing.
std::vector<std::string> check_together(const Loaded& loaded);

}  // namespace cohort::config
