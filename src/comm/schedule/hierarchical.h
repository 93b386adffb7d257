#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule.h"

// Two levels: most of the work inside hosts, and as few elements as possible between hosts, spread over the
// ranks of each host.
//
// all_reduce cuts the buffer into as many segments as the smallest host has ranks. Two hosts of two ranks:
//
//     host A   0 ↔ 1         reduce_scatter inside (direct): rank i of a host has its host's sum of segment i
//              ║   ║         all_reduce of segment i between the hosts (doubling)
//     host B   2 ↔ 3         all_gather inside (direct)
//
// broadcast: a tree over one rank of every host, then a tree inside each host. all_gather: a rank sends its
// part to the ranks of its host and to one rank of every other host, which forwards it. reduce_scatter:
// all_gather backwards; on every host one rank reduces a part over its host and sends the sum to the owner of
// the part. barrier: ranks signal the first rank of their host, the first ranks run a dissemination barrier,
// then they signal back.
//
// Order of summation of all_reduce: inside a host in the order of its ranks from the left; then between
// hosts, in the order of their first ranks, as `doubling` does with the h parts of a segment.
//
// Cost with h hosts of m ranks: all_reduce moves 2(h−1)/h S between hosts per host, 2(h−1)/h S/m per rank, in
// 2⌈log₂ h⌉ α (see doubling.h for messages that wrap around), and 2(m−1)/m S inside a host in 2(m−1) α.
// broadcast sends S once to every other host, all_gather every part once to every other host. With chunks,
// the combined chunks of a segment cross between hosts while later ones are still being combined.

namespace cohort::comm {

/// For all_reduce, reduce_scatter, broadcast, all_gather and barrier.
Schedule hierarchical_schedule(const CallFacts& facts);
Effort hierarchical_effort(const CallFacts& facts);
/// Whether there is more than one host, and a host with more than one rank.
bool has_hierarchy(const CallFacts& facts);

}  // namespace cohort::comm
