#pragma once

#include "base/clock.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace cohort::net {

/// One time that the ranks of a job come together.
struct Round {
  std::string name{};  ///< the same for all, another one each time
  int rank = 0;
  int world = 1;
  TimePoint deadline{};
};

/// Where the ranks of a job find out about each other, before they can talk: each lays down a card, and gets
/// those of all.
///
/// Threads: one at a time.
/// Failure: kTimedOut names the ranks that have not come.
class Meeting {
 public:
  /// A longer card is refused.
  static constexpr std::size_t kCardCap = std::size_t{64} << 10;

  virtual ~Meeting() = default;
  /// The cards of all ranks, by rank.
  virtual Result<std::vector<std::string>> gather(const Round& round, const std::string& card) = 0;
};

}  // namespace cohort::net
