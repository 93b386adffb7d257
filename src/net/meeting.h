#pragma once

#include "base/clock.h"
#include "base/result.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cohort::net {

/// One all-gather of cards at a meeting. Errors name members by their numbers in the job, which stay the same
/// in all generations: a rank of the round may be another member's rank in the job.
struct Round {
  std::string name{};  ///< the same on all ranks, and new for each round
  int rank = 0;
  int world = 1;
  TimePoint deadline{};
  /// The ranks of the job that take part, by their ranks in the round, if not all do.
  std::vector<int> members{};
  /// Asked again and again while ranks are missing: an error ends the round.
  std::function<std::optional<Error>()> hopeless{};

  /// The number in the job of a rank of this round.
  int member(int of_round) const {
    return members.empty() ? of_round : members[static_cast<std::size_t>(of_round)];
  }
};

/// The rendezvous of a job: the ranks learn each other's addresses here, before they can send messages. In
/// each round every rank gives a short text, its card, and gets the cards of all ranks.
///
/// Threads: one at a time.
/// Failure: kTimedOut names the members that are missing, kPeerLost one that has ended.
class Meeting {
 public:
  /// The longest card, in bytes.
  static constexpr std::size_t kCardCap = std::size_t{64} << 10;

  virtual ~Meeting() = default;
  /// Gives this rank's card and returns the cards of all ranks, by rank.
  virtual Result<std::vector<std::string>> gather(const Round& round, const std::string& card) = 0;
};

/// The knowledge of a board about one rank.
struct Posting {
  std::optional<std::string> card{};  ///< the last one that it has posted
  bool has_ended = false;             ///< the launcher says that its process has ended

  bool operator==(const Posting&) const = default;
};

/// A meeting with a board, at which ranks post cards without waiting for each other.
///
/// Threads, failure: as Meeting.
class MeetingWithBoard : public Meeting {
 public:
  /// Replaces the card of this rank on the board of that name and returns what is there, by rank.
  virtual Result<std::vector<Posting>> post(const Round& board, const std::string& card) = 0;
};

}  // namespace cohort::net
