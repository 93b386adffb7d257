#pragma once

#include "comm/scheduled/announcement.h"
#include "comm/scheduled/line.h"

#include <array>
#include <deque>
#include <optional>
#include <vector>

namespace cohort::comm {

/// What the others have begun to send under one tag, for receives that take whoever is first: a description
/// is awaited from every rank, and kept until a receive takes it.
///
/// Threads: the progress thread's.
/// Lifetime: at one place: the exchange writes into it until the group is cancelled.
/// Cost: one receive for each rank, for as long as the group lives.
class Ears {
 public:
  using Description = std::array<std::byte, kAnnouncementBytes>;
  struct Heard {
    int rank = 0;
    std::uint64_t number = 0;  ///< of the message, among those of this rank and tag
    Description description{};
  };

  /// `next`: the number of the message that is awaited of each rank. `flight`: what tickets are for.
  Ears(std::uint64_t flight, std::uint32_t tag, std::vector<std::uint64_t> next);
  Ears(const Ears&) = delete;
  Ears& operator=(const Ears&) = delete;

  void listen_to_all(Line& line);
  /// A description of this rank's has come.
  void hear(int rank);
  /// What has come of this rank, or of any; then the next one is awaited.
  std::optional<Heard> take(int rank, Line& line);

  std::deque<std::uint64_t>& waiting() { return waiting_; }  ///< flights, in the order in which they began

 private:
  void listen_to(int rank, Line& line);

  const std::uint64_t flight_;
  const std::uint32_t tag_;
  std::vector<std::uint64_t> next_;        // by rank
  std::vector<Description> descriptions_;  // by rank
  std::deque<int> heard_;                  // ranks, the first first
  std::deque<std::uint64_t> waiting_;
};

/// The parts of a message of send and receive; a clearance goes from the receiver to the sender.
inline constexpr int kDescriptionPart = 0;
inline constexpr int kNumbersPart = 1;
inline constexpr int kClearancePart = 2;
MessageName message_name(std::uint32_t tag, std::uint64_t number, int part);

}  // namespace cohort::comm
