#pragma once

#include "net/meeting.h"

#include <vector>

namespace cohort::tool {

/// The meeting of some ranks inside the meeting of all. Every rank must be in a part, if only alone, and all
/// parts must meet equally often.
///
/// Threads: one at a time.
/// Lifetime: the meeting of all must outlive it.
/// Failure: as the meeting of all.
class PartMeeting final : public net::Meeting {
 public:
  /// Rank and size of the meeting of all.
  struct Seat {
    int rank = 0;
    int world = 1;
  };
  /// `members`: the ranks of this part, as numbered among all, in the order of the part.
  PartMeeting(net::Meeting& all, Seat seat, std::vector<int> members)
      : all_(all), seat_(seat), members_(std::move(members)) {}

  Result<std::vector<std::string>> gather(const net::Round& round, const std::string& card) override {
    COHORT_ASSIGN_OR_RETURN(
        const auto cards,
        all_.gather(
            {.name = round.name, .rank = seat_.rank, .world = seat_.world, .deadline = round.deadline},
            card));
    std::vector<std::string> ours;
    for (const int member : members_) ours.push_back(cards[static_cast<std::size_t>(member)]);
    return ours;
  }

 private:
  net::Meeting& all_;
  const Seat seat_;
  const std::vector<int> members_;
};

}  // namespace cohort::tool
