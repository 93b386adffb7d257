#include "net/meeting_table.h"

#include "base/byte_stream.h"
#include "comm/rank_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::net {
namespace {

constexpr std::size_t kRoundCap = 256;
constexpr std::uint8_t kRefused = 0;
constexpr std::uint8_t kFine = 1;
constexpr std::uint64_t kLongestWaitMs = 24ull * 3600 * 1000;

Error garbled(const char* what) {
  return Error(ErrorCode::kCorrupt, fmt::format("what came is no {}", what));
}

}  // namespace

std::vector<std::byte> CardRequest::encode() const {
  return ByteWriter().number(wait_ms).number(world).text(round).text(card).take();
}

Result<CardRequest> CardRequest::decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  CardRequest request;
  request.wait_ms = std::min(reader.number<std::uint64_t>(), kLongestWaitMs);
  request.world = reader.number<std::uint32_t>();
  request.round = reader.text(kRoundCap);
  request.card = reader.text(Meeting::kCardCap);
  if (!reader.is_fine() || !reader.is_at_end()) return garbled("request for cards");
  return request;
}

std::vector<std::byte> encode_cards(const std::vector<std::string>& cards) {
  ByteWriter writer;
  writer.number(kFine);
  for (const std::string& card : cards) writer.text(card);
  return writer.take();
}

std::vector<std::byte> encode_refusal(const Error& error) {
  const std::string text = error.text().substr(0, Meeting::kCardCap);
  return ByteWriter().number(kRefused).number(static_cast<std::uint32_t>(error.code())).text(text).take();
}

Result<std::vector<std::string>> decode_reply(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto kind = reader.number<std::uint8_t>();
  if (kind == kRefused) {
    const auto code = reader.number<std::uint32_t>();
    const std::string text = reader.text(Meeting::kCardCap);
    if (!reader.is_fine() || code > static_cast<std::uint32_t>(ErrorCode::kIo)) return garbled("reply");
    return Error(static_cast<ErrorCode>(code), text);
  }
  std::vector<std::string> cards;
  while (!reader.is_at_end()) cards.push_back(reader.text(Meeting::kCardCap));
  if (!reader.is_fine() || kind != kFine) return garbled("reply");
  return cards;
}

std::vector<MeetingTable::Reply> MeetingTable::lay_down(int rank, std::uint64_t number,
                                                        std::span<const std::byte> request, TimePoint now) {
  const auto refuse = [&](const Error& error) {
    return std::vector<Reply>{{rank, number, encode_refusal(error)}};
  };
  const auto decoded = CardRequest::decode(request);
  if (!decoded) return refuse(decoded.error());
  if (decoded->world != static_cast<std::uint32_t>(world_)) {
    return refuse(Error(ErrorCode::kUsage,
                        fmt::format("rank {} counts {} ranks, the meeting {}", rank, decoded->world, world_))
                      .with_remedy("Start all ranks with the same number of ranks."));
  }
  forget(rank);  // it is in one round at a time
  Places& places = rounds_[decoded->round];
  places[rank] = {number, decoded->card, now + std::chrono::milliseconds(decoded->wait_ms)};
  if (places.size() < static_cast<std::size_t>(world_)) return {};
  std::vector<std::string> cards;
  for (const auto& [each, place] : places) cards.push_back(place.card);
  std::vector<Reply> replies;
  for (const auto& [each, place] : places) replies.push_back({each, place.number, encode_cards(cards)});
  rounds_.erase(decoded->round);
  return replies;
}

// Where one gives up nobody else need wait: without it the round is never complete.
std::vector<MeetingTable::Reply> MeetingTable::look_at_the_time(TimePoint now) {
  std::vector<Reply> replies;
  std::erase_if(rounds_, [&](const auto& round) {
    const auto& [name, places] = round;
    const bool is_over = std::any_of(places.begin(), places.end(),
                                     [now](const auto& each) { return now >= each.second.until; });
    if (!is_over) return false;
    std::vector<int> missing;
    for (int rank = 0; rank < world_; ++rank) {
      if (!places.contains(rank)) missing.push_back(rank);
    }
    const Error error = Error(ErrorCode::kTimedOut,
                              fmt::format("{} not come to the meeting '{}'", comm::ranks_have(missing), name))
                            .with_remedy(
                                "Look whether those ranks were started, still run, and reach the "
                                "address of the meeting.");
    for (const auto& [rank, place] : places) replies.push_back({rank, place.number, encode_refusal(error)});
    return true;
  });
  return replies;
}

TimePoint MeetingTable::next_deadline() const {
  TimePoint next = TimePoint::max();
  for (const auto& [name, places] : rounds_) {
    for (const auto& [rank, place] : places) next = std::min(next, place.until);
  }
  return next;
}

void MeetingTable::forget(int rank) {
  for (auto& [name, places] : rounds_) places.erase(rank);
  std::erase_if(rounds_, [](const auto& round) { return round.second.empty(); });
}

}  // namespace cohort::net
