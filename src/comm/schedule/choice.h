#pragma once

#include "comm/schedule/algorithm.h"

#include <cstddef>
#include <vector>

namespace cohort::comm {

/// An algorithm for a call, the number of chunks, and the predicted time.
struct Choice {
  const Algorithm* algorithm = nullptr;
  std::size_t chunks = 1;             ///< chunks of the longest message
  std::size_t chunk_length = kUncut;  ///< elements, for CallFacts::chunk_length
  double seconds = 0;
};

/// The predicted time of the algorithm with the chunk length of `facts`: steps × α + bytes × β + combined
/// bytes × γ. Combining that overlaps with other chunks counts with a share of γ (Prices::hidden_share).
/// Elements that are rounded on the wire count with two bytes.
double predict_seconds(const Algorithm& algorithm, const CallFacts& facts, std::size_t element_bytes,
                       const Prices& prices);

/// The number of chunks with the least predicted time: 1, 2, 4 … 64, as long as chunks of the longest message
/// have at least 64 KiB. serves(algorithm, facts) must hold; the chunk length of `facts` is ignored.
Choice best_cut(const Algorithm& algorithm, const CallFacts& facts, std::size_t element_bytes,
                const Prices& prices);

/// All algorithms that can run the call, each with its best number of chunks, fastest first; ties keep the
/// order of all_algorithms(). Gather and scatter list star first, because only their root knows the lengths
/// of all parts. Every rank gets the same list. Empty for send and receive, which are not operations of a
/// whole group.
std::vector<Choice> rank_choices(const CallFacts& facts, std::size_t element_bytes, const Prices& prices);

/// The first of rank_choices(). Throws BugError if the list is empty.
Choice choose(const CallFacts& facts, std::size_t element_bytes, const Prices& prices);

}  // namespace cohort::comm
