#pragma once

#include "comm/call.h"
#include "comm/schedule/chunks.h"
#include "comm/schedule/wire_dtype.h"

#include <cstddef>
#include <vector>

namespace cohort::comm {

/// What an algorithm must know of a call to plan it. Everything but `rank` is the same on all ranks, except
/// where noted.
struct CallFacts {
  Operation operation = Operation::kBarrier;
  int rank = 0;
  int world = 1;
  int root = 0;
  /// The length of the numbers as a whole: of all_reduce, reduce and broadcast; else the sum of `parts`.
  std::size_t count = 0;
  /// The length of each rank's part: of reduce_scatter, all_gather, gather and scatter. Of all_to_all: what
  /// this rank gives to each.
  std::vector<std::size_t> parts{};
  /// Of all_to_all: what this rank gets from each.
  std::vector<std::size_t> arriving{};
  /// Which host each rank is on; empty: all on one.
  std::vector<int> hosts{};
  /// What travels between hosts is rounded to; without `hosts` what travels at all.
  WireDType wire = WireDType::kSame;
  /// Messages of more elements than this travel in chunks, so that moving and combining overlap.
  std::size_t chunk_length = kUncut;
};

/// The facts of a call that check_call() found right. A rank other than the root of gather and scatter knows
/// its own part only and takes the others for equal: where they are not, only the star is right (see
/// choose()).
CallFacts facts_of(const Call& call, int rank, int world);

/// Whether what travels between two ranks is rounded to `facts.wire`.
bool is_rounded_between(const CallFacts& facts, int rank, int other);

/// Where part `part` begins.
std::size_t first_of_part(const std::vector<std::size_t>& parts, int part);

}  // namespace cohort::comm
