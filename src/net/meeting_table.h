#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "net/meeting.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace cohort::net {

// The payloads of a meeting's messages, little endian. A text is its length in 4 bytes and its bytes.
//
//   request   kind 1 | wait_ms 8 | world 4 | number of members 4 | members 4 each | text round | text card
//   reply     kind 1 = 1 | text card of rank 0 | text card of rank 1 | …
//   refusal   kind 1 = 0 | error code 4 | text of the error

struct CardRequest {
  enum class Kind : std::uint8_t {
    kGather = 1,  ///< answered when all members have asked
    kPost = 2,    ///< answered at once with the postings of all members
    kGiveUp = 3,  ///< ends the round for all members; the card is the reason
  };
  Kind kind = Kind::kGather;
  std::string round{};
  std::uint32_t world = 1;               ///< of the job
  std::vector<std::uint32_t> members{};  ///< those that take part, in their order; empty: all
  std::uint64_t wait_ms = 0;
  std::string card{};

  std::vector<std::byte> encode() const;
  static Result<CardRequest> decode(std::span<const std::byte> bytes);
};

std::vector<std::byte> encode_cards(const std::vector<std::string>& cards);
std::vector<std::byte> encode_refusal(const Error& error);
/// A posting as a card: `e` if the rank has ended or `l` if it lives, then, if it has posted, `:` and its
/// card.
std::string posting_text(const Posting& posting);
/// kCorrupt for any other text.
Result<Posting> parse_posting(const std::string& text);
/// The cards of a reply, or the error of a refusal. kCorrupt for any other bytes.
Result<std::vector<std::string>> decode_reply(std::span<const std::byte> bytes);

/// The open rounds and the boards of a meeting with their cards. Pure: no sockets and no clock.
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

  /// Handles a request and returns the replies to send now: to all ranks if it completes or ends the round,
  /// to this rank if it is refused or a posting.
  std::vector<Reply> lay_down(int rank, std::uint64_t number, std::span<const std::byte> request,
                              TimePoint now);
  /// Ends rounds whose deadline has passed: a refusal to each waiting rank names the missing ranks.
  std::vector<Reply> expire(TimePoint now);
  TimePoint next_deadline() const;
  /// Removes the cards of a rank that cannot be reached from open rounds.
  void forget(int rank);
  /// The process of this rank has ended: ends the rounds that wait for it, now and later.
  std::vector<Reply> end(int rank);

 private:
  struct Entry {
    std::uint64_t number = 0;
    std::string card{};
    TimePoint until{};
  };
  struct OpenRound {
    std::vector<int> members{};      // in the order of the reply
    std::map<int, Entry> entries{};  // by rank
    std::optional<Error> failure{};  // given up: whoever comes later is refused
  };

  std::vector<Reply> gather(int rank, std::uint64_t number, const CardRequest& request, TimePoint now);
  std::vector<Reply> post(int rank, std::uint64_t number, const CardRequest& request);
  std::vector<Reply> refuse_all(OpenRound& round, const Error& error) const;
  std::vector<int> members_of(const CardRequest& request) const;

  const int world_;
  std::map<std::string, OpenRound> rounds_;
  std::map<std::string, std::map<int, std::string>> boards_;  // cards by rank
  std::set<int> ended_;
};

}  // namespace cohort::net
