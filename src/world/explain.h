#pragma once

#include "comm/scheduled/plan.h"

#include <string>

namespace cohort::world {

/// What links were found to cost, how many sockets carry long payloads, and which algorithm every operation
/// takes at some sizes, with the time it should need: lines for people.
std::string explain(const comm::PlanOptions& plan, int world, int sockets);

}  // namespace cohort::world
