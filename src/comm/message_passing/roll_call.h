#pragma once

#include "base/clock.h"

#include <cstdint>
#include <map>
#include <vector>

namespace cohort::comm {

/// The question "how many calls have you made?", put to every other rank when a call's deadline has passed.
///
/// Threads: one at a time.
class RollCall {
 public:
  /// About call `number` of flight `flight`. A rank that has not answered by `until` counts as missing.
  RollCall(std::uint64_t flight, std::uint64_t number, TimePoint until)
      : flight_(flight), number_(number), until_(until) {}

  std::uint64_t flight() const { return flight_; }
  std::uint64_t number() const { return number_; }
  TimePoint until() const { return until_; }

  void answered(int rank, std::uint64_t num_started) { num_started_[rank] = num_started; }
  bool is_complete(int world) const { return num_started_.size() + 1 == static_cast<std::size_t>(world); }
  /// The ranks that have not made the call, or have not answered.
  std::vector<int> missing(int own_rank, int world) const {
    std::vector<int> ranks;
    for (int r = 0; r < world; ++r) {
      if (r == own_rank) continue;
      const auto answer = num_started_.find(r);
      if (answer == num_started_.end() || answer->second < number_) ranks.push_back(r);
    }
    return ranks;
  }

 private:
  std::uint64_t flight_;
  std::uint64_t number_;
  TimePoint until_;
  std::map<int, std::uint64_t> num_started_;
};

}  // namespace cohort::comm
