#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

// The barrier by spreading the word: in round k everybody tells the rank 2^k further that it, and everybody
// it has heard of, is here. After ⌈log₂ n⌉ rounds everybody has heard of everybody. Whom rank 0 of n = 5 has
// heard of:
//
//     round 1: 0 4        round 2: 0 4 3 2        round 3: 0 4 3 2 1
//
// Cost: ⌈log₂ n⌉ α, for any n. Messages have no elements.

namespace cohort::comm {

/// Tells the members that this one has done `after`; returns the steps after which it knows the same of all.
std::vector<int> disseminate(ScheduleBuilder& builder, const Team& team, std::vector<int> after);

/// Of barrier.
Schedule dissemination_schedule(const CallFacts& facts);
Effort dissemination_effort(const CallFacts& facts);

}  // namespace cohort::comm
