#pragma once

#include "comm/group/call.h"
#include "comm/schedule/chunks.h"
#include "comm/schedule/wire_dtype.h"

#include <cstddef>
#include <vector>

namespace cohort::comm {

/// The facts from which an algorithm plans a call. All but `rank` are equal on all ranks, except where noted.
struct CallFacts {
  Operation operation = Operation::kBarrier;
  int rank = 0;
  int world = 1;
  int root = 0;
  /// Elements of the whole buffer: of all_reduce, reduce and broadcast; otherwise the sum of `parts`.
  std::size_t count = 0;
  /// Elements of each rank's part in reduce_scatter, all_gather, gather and scatter. In all_to_all: elements
  /// that this rank sends to each rank.
  std::vector<std::size_t> parts{};
  /// In all_to_all: elements that this rank receives from each rank.
  std::vector<std::size_t> arriving{};
  /// The host of each rank; empty if all ranks are on one host.
  std::vector<int> hosts{};
  /// The type that elements are rounded to on their way between hosts; if `hosts` is empty, in every message.
  WireDType wire = WireDType::kSame;
  /// Longer messages are cut into chunks of at most this many elements, so that sending and combining
  /// overlap.
  std::size_t chunk_length = kUncut;
};

/// The facts of a call that passed check_call(). In gather and scatter, a rank other than the root knows only
/// its own part and assumes that all parts are equal. If they are not, only the star algorithm is right (see
/// choose()).
CallFacts facts_of(const Call& call, int rank, int world);

/// Whether messages between these two ranks are rounded to `facts.wire`.
bool is_rounded_between(const CallFacts& facts, int rank, int other);

/// The first element of part `part`.
std::size_t first_of_part(const std::vector<std::size_t>& parts, int part);

}  // namespace cohort::comm
