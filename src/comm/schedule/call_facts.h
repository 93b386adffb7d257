#pragma once

#include "comm/call.h"
#include "comm/schedule/schedule.h"

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
  /// Into how many pieces a ring cuts what it passes on, so that passing on and combining overlap.
  int chunks = 1;
};

/// The facts of a call that check_call() found right. A rank other than the root of gather and scatter knows
/// its own part only and takes the others for equal: where they are not, only the star is right (see
/// choose()).
CallFacts facts_of(const Call& call, int rank, int world);

/// Where part `part` begins.
std::size_t first_of_part(const std::vector<std::size_t>& parts, int part);

}  // namespace cohort::comm
