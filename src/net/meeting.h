#pragma once

#include "base/clock.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace cohort::net {

/// One all-gather of cards at a meeting.
struct Round {
  std::string name{};  ///< the same on all ranks, and new for each round
  int rank = 0;
  int world = 1;
  TimePoint deadline{};
};

/// The rendezvous of a job: the ranks learn each other's addresses here, before they can send messages. In
/// each round every rank gives a short text, its card, and gets the cards of all ranks.
///
/// Threads: one at a time.
/// Failure: kTimedOut names the ranks that are missing.
class Meeting {
 public:
  /// The longest card, in bytes.
  static constexpr std::size_t kCardCap = std::size_t{64} << 10;

  virtual ~Meeting() = default;
  /// Gives this rank's card and returns the cards of all ranks, by rank.
  virtual Result<std::vector<std::string>> gather(const Round& round, const std::string& card) = 0;
};

}  // namespace cohort::net
