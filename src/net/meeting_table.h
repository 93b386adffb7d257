#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "net/meeting.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cohort::net {

// The payloads of a meeting's messages, little endian. A text is its length in 4 bytes and its bytes.
//
//   request   wait_ms 8 | world 4 | text round | text card
//   reply     kind 1 = 1 | text card of rank 0 | text card of rank 1 | …
//   refusal   kind 1 = 0 | error code 4 | text of the error

struct CardRequest {
  std::string round{};
  std::uint32_t world = 1;
  std::uint64_t wait_ms = 0;
  std::string card{};

  std::vector<std::byte> encode() const;
  static Result<CardRequest> decode(std::span<const std::byte> bytes);
};

std::vector<std::byte> encode_cards(const std::vector<std::string>& cards);
std::vector<std::byte> encode_refusal(const Error& error);
/// The cards of a reply, or the error of a refusal. kCorrupt for any other bytes.
Result<std::vector<std::string>> decode_reply(std::span<const std::byte> bytes);

/// The open rounds of a meeting with their cards. Pure: no sockets and no clock.
///
/// Threads: one at a time.
class MeetingTable {
 public:
  struct Reply {
    int rank = 0;
    std::uint64_t number = 0;  ///< the request that this answers
    std::vector<std::byte> payload{};
  };

  explicit MeetingTable(int world) : world_(world) {}

  /// Handles a request and returns the replies to send now: to all ranks if it completes the round, to this
  /// rank if it is refused.
  std::vector<Reply> lay_down(int rank, std::uint64_t number, std::span<const std::byte> request,
                              TimePoint now);
  /// Ends rounds whose deadline has passed: a refusal to each waiting rank names the missing ranks.
  std::vector<Reply> expire(TimePoint now);
  TimePoint next_deadline() const;
  /// Removes the cards of a lost rank from open rounds.
  void forget(int rank);

 private:
  struct Entry {
    std::uint64_t number = 0;
    std::string card{};
    TimePoint until{};
  };
  using Entries = std::map<int, Entry>;  // by rank

  const int world_;
  std::map<std::string, Entries> rounds_;
};

}  // namespace cohort::net
