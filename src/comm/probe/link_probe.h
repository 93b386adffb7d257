#pragma once

#include "base/clock.h"
#include "comm/group/communicator.h"

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace cohort::comm {

/// Latency and bandwidth from one rank to another: a message of n bytes takes latency_s + n · byte_s.
struct LinkFigures {
  double latency_s = 0;  ///< of one message, one way
  double byte_s = 0;     ///< time of one more byte

  bool operator==(const LinkFigures&) const = default;
};

/// The rank that sends the bytes whose time is measured.
enum class ProbeSender { kLowerRank, kHigherRank };

struct LinkProbeOptions {
  ProbeSender sender = ProbeSender::kLowerRank;
  std::chrono::nanoseconds time = std::chrono::milliseconds(60);  ///< goal; a very slow link takes longer
  std::size_t most_bytes = std::size_t{64} << 20;                 ///< in one message
  std::chrono::nanoseconds limit = std::chrono::seconds(20);      ///< timeout of the whole measurement
  const Clock* clock = nullptr;                                   ///< null: the clock of this machine
};

/// Measures the link to `peer`: both ranks call this at the same time, with the same options, and get the
/// same figures.
///
/// The latency is half of the shortest of many round trips. Then the length of a message is doubled until one
/// message keeps the link busy for a good part of `time`, and byte_s is the slope between this length and
/// half of it: the constant cost of a message, and the burst that a token bucket lets through, are in both
/// and cancel out.
///
/// Threads: use one group from one thread; different pairs of a group may measure at the same time.
/// Failure: an error of a call, which sticks to the group; kUsage unless `peer` is another rank of the group.
/// Cost: about `time`, and on each side memory for the longest message.
Result<LinkFigures> probe_link(Communicator& group, int peer, const LinkProbeOptions& options);

/// All pairs of n ranks, the lower rank first, in rounds in each of which every rank is in one pair at most.
///
/// The circle method: one rank keeps its seat and all others move round a table, so that every round pairs
/// ranks anew: n − 1 rounds for even n. For odd n one seat is empty, and there are n rounds.
std::vector<std::vector<std::pair<int, int>>> probe_rounds(int n);

}  // namespace cohort::comm
