#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"

// Recursive halving and doubling (butterfly): ranks exchange with the rank 1 away, then 2 away, then 4 away.
// In each exchange a pair halves the range that both work on: one rank keeps the lower half, the other the
// upper. When every rank holds one complete piece, the same exchanges in the opposite order double it until
// it is whole. n = 4:
//
//     rank 0 |####|      rank 1 |####|      rank 2 |####|      rank 3 |####|
//     halve 0↔1 |##  |          |  ##|  2↔3        |##  |             |  ##|
//     halve 0↔2 |#   |   1↔3    |  # |             | #  |             |   #|
//     double 0↔2 |##  |  1↔3    |  ##|             |##  |             |  ##|
//     double 0↔1 |####|         |####|  2↔3        |####|             |####|
//
// With n = p + e ranks, p a power of two, e pairs are first folded into one rank each: ranks 0 to 2e − 1 are
// pairs; the even rank sends its input to the odd rank and receives the result at the end.
//
// Order of summation: the same for every element, a balanced tree over neighbours: folded pairs first, then
// (x[0] ∘ x[1]) ∘ (x[2] ∘ x[3]) and so on, the lower rank always on the left.
// Cost if n is a power of two: 2 log₂ n α + 2(n−1)/n S β + (n−1)/n S γ; otherwise 2 α + 2 S β + S γ more.
// Scratch: S. In c chunks: c times the α, 1/c of the γ.

namespace cohort::comm {

/// For all_reduce.
Schedule halving_doubling_schedule(const CallFacts& facts);
Effort halving_doubling_effort(const CallFacts& facts);

}  // namespace cohort::comm
