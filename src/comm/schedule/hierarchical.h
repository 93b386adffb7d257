#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule.h"

// In two levels: inside hosts everything, between hosts only what must cross, spread over the ranks of a
// host.
//
// all_reduce cuts the numbers into as many lanes as the smallest host has ranks. Two hosts of two:
//
//     host A   0 ↔ 1         reduce_scatter inside (direct): rank i of a host has its host's sum of lane i
//              ║   ║         all_reduce of lane i between the hosts (doubling)
//     host B   2 ↔ 3         all_gather inside (direct)
//
// broadcast: a tree over one rank of every host, then a tree inside. all_gather: a rank sends its part to the
// ranks of its host and to one rank of every other host, which hands it on. barrier: ranks report to the
// first of their host, those spread the word, and release. reduce_scatter: all_gather backwards; on every
// host one rank adds up what its ranks have of a part, and sends that to whose part it is.
//
// Order of summation of all_reduce: inside a host in the order of its ranks from the left, then between
// hosts, in the order of their first ranks, as `doubling` does with the h parts of a lane.
//
// With h hosts of m ranks, all_reduce crosses with 2(h−1)/h S per host, 2(h−1)/h S/m per rank, in 2⌈log₂ h⌉ α
// (see doubling for messages cut in two), and inside moves 2(m−1)/m S in 2(m−1) α. Broadcast crosses with S
// once for every other host, all_gather with every part once for every other host. all_reduce in chunks:
// what a host has combined of a lane crosses while the rest is still being combined.

namespace cohort::comm {

/// Of all_reduce, reduce_scatter, broadcast, all_gather, barrier.
Schedule hierarchical_schedule(const CallFacts& facts);
Effort hierarchical_effort(const CallFacts& facts);
/// More than one host, one of them with more than one rank.
bool has_hierarchy(const CallFacts& facts);

}  // namespace cohort::comm
