#pragma once

#include "comm/scheduled/plan.h"

#include <string>

namespace cohort::world {

/// What links were found to cost, and which algorithm every operation takes at some sizes, with the time it
/// should need: lines for people.
std::string explain(const comm::PlanOptions& plan, int world);

}  // namespace cohort::world
