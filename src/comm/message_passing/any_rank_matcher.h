#pragma once

#include "comm/message_passing/announcement.h"
#include "comm/message_passing/line.h"

#include <array>
#include <deque>
#include <optional>
#include <vector>

namespace cohort::comm {

/// The sends of all other ranks under one tag, for receives from any rank: a receive for the description of
/// the next send waits for every rank, and a description is kept until a receive of the caller takes it.
///
/// Threads: the progress thread only.
/// Lifetime: must not move: the exchange writes into it until the group is cancelled.
/// Cost: one receive for each rank, for as long as the group lives.
class AnyRankMatcher {
 public:
  using Description = std::array<std::byte, kAnnouncementBytes>;
  struct Announced {
    int rank = 0;
    std::uint64_t number = 0;  ///< of the message, among those of this rank and tag
    Description description{};
  };

  /// `next`: the number of the next message of each rank. `flight`: the id in the tickets of the receives.
  AnyRankMatcher(std::uint64_t flight, std::uint32_t tag, std::vector<std::uint64_t> next);
  AnyRankMatcher(const AnyRankMatcher&) = delete;
  AnyRankMatcher& operator=(const AnyRankMatcher&) = delete;

  void receive_from_all(Line& line);
  /// The description of a send of this rank has come.
  void add_announced(int rank);
  /// Takes the description from this rank, or the first from any; then receives the next of that rank.
  std::optional<Announced> take(int rank, Line& line);

  std::deque<std::uint64_t>& waiting() {
    return waiting_;
  }  ///< ids of flights, in the order in which they began

 private:
  void receive_from(int rank, Line& line);

  const std::uint64_t flight_;
  const std::uint32_t tag_;
  std::vector<std::uint64_t> next_;        // by rank
  std::vector<Description> descriptions_;  // by rank
  std::deque<int> announced_;              // ranks whose description has come, in that order
  std::deque<std::uint64_t> waiting_;
};

/// The messages of one send and receive: the sender's description, the numbers, and the receiver's clearance.
inline constexpr int kDescriptionPart = 0;
inline constexpr int kNumbersPart = 1;
inline constexpr int kClearancePart = 2;
MessageName message_name(std::uint32_t tag, std::uint64_t number, int part);

}  // namespace cohort::comm
