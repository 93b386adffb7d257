#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

// The dissemination barrier: in round k every rank signals the rank 2^k further on, and thereby all ranks it
// has heard of. After ⌈log₂ n⌉ rounds every rank has heard of every other. Ranks that rank 0 of n = 5 has
// heard of:
//
//     round 1: 0 4        round 2: 0 4 3 2        round 3: 0 4 3 2 1
//
// Cost: ⌈log₂ n⌉ α, for any n. Messages have no elements.

namespace cohort::comm {

/// Signals the team that this member has done the steps `after`; returns the steps after which it knows the
/// same of all members.
std::vector<int> disseminate(ScheduleBuilder& builder, const Team& team, std::vector<int> after);

/// For barrier.
Schedule dissemination_schedule(const CallFacts& facts);
Effort dissemination_effort(const CallFacts& facts);

}  // namespace cohort::comm
