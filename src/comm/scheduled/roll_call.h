#pragma once

#include "base/clock.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cohort::comm {

/// The question "how many calls have you made?", put to every other rank when a call's deadline has passed.
///
/// Threads: one at a time.
class RollCall {
 public:
  /// About call `number` of flight `flight`; whoever has not answered at `until` is silent.
  RollCall(std::uint64_t flight, std::uint64_t number, TimePoint until)
      : flight_(flight), number_(number), until_(until) {}

  std::uint64_t flight() const { return flight_; }
  std::uint64_t number() const { return number_; }
  TimePoint until() const { return until_; }

  void answered(int rank, std::uint64_t num_started) { num_started_[rank] = num_started; }
  bool is_complete(int world) const { return num_started_.size() + 1 == static_cast<std::size_t>(world); }
  /// The ranks that have not made the call, or that are silent.
  std::vector<int> missing(int own_rank, int world) const;

 private:
  std::uint64_t flight_;
  std::uint64_t number_;
  TimePoint until_;
  std::map<int, std::uint64_t> num_started_;
};

/// `rank 2 has not arrived`, `ranks 1 and 3 have not arrived`.
std::string absence_text(const std::vector<int>& ranks);

}  // namespace cohort::comm
