#pragma once

#include "base/clock.h"
#include "comm/communicator.h"

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace cohort::comm {

/// What the way from one rank to another costs: a message of n bytes takes latency_s + n · byte_s.
struct LinkFigures {
  double latency_s = 0;  ///< one message, one way
  double byte_s = 0;     ///< one more byte

  bool operator==(const LinkFigures&) const = default;
};

/// Which of the two ranks sends the bytes that are timed.
enum class ProbeSender { kLowerRank, kHigherRank };

struct LinkProbeOptions {
  ProbeSender sender = ProbeSender::kLowerRank;
  std::chrono::nanoseconds time = std::chrono::milliseconds(60);  ///< aimed at; a very slow link takes longer
  std::size_t most_bytes = std::size_t{64} << 20;                 ///< of one message
  std::chrono::nanoseconds limit = std::chrono::seconds(20);      ///< for the whole of it
  const Clock* clock = nullptr;                                   ///< none: that of this machine
};

/// Measures the way to `peer`: both call it at the same time, with the same options, and get the same
/// figures.
///
/// The latency is half of the best of many round trips. Then messages are doubled until one keeps the link
/// busy for a good part of the time, and byte_s is the slope between such a message and one of half its size:
/// what every message costs, and what a bucket of tokens lets through at first, is in both and falls out.
///
/// Threads: one group is best used from one thread; different pairs of a group may do it at the same time.
/// Failure: that of a call, which sticks to the group; kUsage if `peer` is no other rank of it.
/// Cost: about `time`, and on each side memory for the longest message.
Result<LinkFigures> probe_link(Communicator& group, int peer, const LinkProbeOptions& options);

/// All pairs of n, the lower first, in rounds in each of which nobody is in two pairs. Pure.
///
/// One stays in place and all others go round a table, so that every round seats everybody opposite somebody
/// new: n − 1 rounds for even n. For odd n one chair is empty, and there are n rounds.
std::vector<std::vector<std::pair<int, int>>> probe_rounds(int n);

}  // namespace cohort::comm
