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

// What is said at a meeting, in payloads of messages. A request: 8 bytes of milliseconds to wait, 4 bytes of
// world, 4 bytes of length and the name of the round, the card. A reply: one byte; 1: then for each rank 4
// bytes of length and its card; 0: then 4 bytes of error code and the text. All little endian.

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
/// The cards, or the error that came instead of them.
Result<std::vector<std::string>> decode_reply(std::span<const std::byte> bytes);

/// Who has laid down which card in which round. Pure.
class MeetingTable {
 public:
  struct Reply {
    int rank = 0;
    std::uint64_t number = 0;  ///< of the request
    std::vector<std::byte> payload{};
  };

  explicit MeetingTable(int world) : world_(world) {}

  /// A rank's request, as it came; what is to be said now, to whom.
  std::vector<Reply> lay_down(int rank, std::uint64_t number, std::span<const std::byte> request,
                              TimePoint now);
  /// Tells those of rounds whose time is over who is missing.
  std::vector<Reply> look_at_the_time(TimePoint now);
  TimePoint next_deadline() const;
  /// The rank is gone: whatever it laid down and nobody has seen goes with it.
  void forget(int rank);

 private:
  struct Place {
    std::uint64_t number = 0;
    std::string card{};
    TimePoint until{};
  };
  using Places = std::map<int, Place>;

  const int world_;
  std::map<std::string, Places> rounds_;
};

}  // namespace cohort::net
