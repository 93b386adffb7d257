#pragma once

#include "comm/schedule/algorithm.h"

#include <cstddef>
#include <vector>

namespace cohort::comm {

/// An algorithm for a call, how it cuts its messages, and what that should take.
struct Choice {
  const Algorithm* algorithm = nullptr;
  std::size_t chunks = 1;             ///< that the longest message is cut into
  std::size_t chunk_length = kUncut;  ///< elements; as CallFacts has it
  double seconds = 0;
};

/// The time the algorithm should take by its formula, in chunks of the facts' length: steps × α + bytes × β +
/// combined bytes × γ, of which what is combined while other chunks move counts for a share only. What is
/// rounded on the wire has two bytes an element.
double predict_seconds(const Algorithm& algorithm, const CallFacts& facts, std::size_t element_bytes,
                       const Prices& prices);

/// The algorithm with the number of chunks that should take the least time: 1, 2, 4 … 64, none of a longest
/// message shorter than 64 KiB. It must serve the call; the chunk length of the facts does not matter.
Choice best_cut(const Algorithm& algorithm, const CallFacts& facts, std::size_t element_bytes,
                const Prices& prices);

/// Every algorithm that serves the call, cut as is best for it: first the one to take, then the others by
/// their time; of equals the first of the table. Gather and scatter always take the star, because only their
/// root knows the lengths of all parts. Every rank gets the same list. Empty for send and receive, which are
/// no operations of a whole group.
std::vector<Choice> rank_choices(const CallFacts& facts, std::size_t element_bytes, const Prices& prices);

/// The first of them. BugError if there is none.
Choice choose(const CallFacts& facts, std::size_t element_bytes, const Prices& prices);

}  // namespace cohort::comm
