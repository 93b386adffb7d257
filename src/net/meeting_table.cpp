#include "net/meeting_table.h"

#include "comm/rank_text.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace cohort::net {
namespace {

constexpr std::size_t kRoundCap = 256;
constexpr std::uint64_t kLongestWaitMs = 24ull * 3600 * 1000;

template <class Number>
void put(std::vector<std::byte>& bytes, Number number) {
  const auto* first = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), first, first + sizeof number);
}

void put_text(std::vector<std::byte>& bytes, const std::string& text) {
  put(bytes, static_cast<std::uint32_t>(text.size()));
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), first, first + text.size());
}

/// Takes bytes apart; false where there are too few.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class Number>
  bool number(Number& into) {
    if (rest_.size() < sizeof into) return false;
    std::memcpy(&into, rest_.data(), sizeof into);
    rest_ = rest_.subspan(sizeof into);
    return true;
  }
  bool text(std::string& into, std::size_t cap) {
    std::uint32_t length = 0;
    if (!number(length) || length > cap || rest_.size() < length) return false;
    into.assign(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
    return true;
  }
  bool is_empty() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

Error garbled(const char* what) {
  return Error(ErrorCode::kCorrupt, fmt::format("what came is no {}", what));
}

}  // namespace

std::vector<std::byte> CardRequest::encode() const {
  std::vector<std::byte> bytes;
  put(bytes, wait_ms);
  put(bytes, world);
  put_text(bytes, round);
  put_text(bytes, card);
  return bytes;
}

Result<CardRequest> CardRequest::decode(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  CardRequest request;
  if (!reader.number(request.wait_ms) || !reader.number(request.world) ||
      !reader.text(request.round, kRoundCap) || !reader.text(request.card, Meeting::kCardCap) ||
      !reader.is_empty()) {
    return garbled("request for cards");
  }
  request.wait_ms = std::min(request.wait_ms, kLongestWaitMs);
  return request;
}

std::vector<std::byte> encode_cards(const std::vector<std::string>& cards) {
  std::vector<std::byte> bytes{std::byte{1}};
  for (const std::string& card : cards) put_text(bytes, card);
  return bytes;
}

std::vector<std::byte> encode_refusal(const Error& error) {
  std::vector<std::byte> bytes{std::byte{0}};
  put(bytes, static_cast<std::uint32_t>(error.code()));
  put_text(bytes, error.text());
  return bytes;
}

Result<std::vector<std::string>> decode_reply(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  std::uint8_t is_fine = 0;
  if (!reader.number(is_fine) || is_fine > 1) return garbled("reply");
  std::string text;
  if (is_fine == 0) {
    std::uint32_t code = 0;
    if (!reader.number(code) || code > static_cast<std::uint32_t>(ErrorCode::kIo) ||
        !reader.text(text, Meeting::kCardCap)) {
      return garbled("reply");
    }
    return Error(static_cast<ErrorCode>(code), text);
  }
  std::vector<std::string> cards;
  while (!reader.is_empty()) {
    if (!reader.text(text, Meeting::kCardCap)) return garbled("reply");
    cards.push_back(text);
  }
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
    return refuse(Error(ErrorCode::kUsage, fmt::format("rank {} counts {} ranks, the meeting {}", rank,
                                                       decoded->world, world_))
                      .with_remedy("Start all ranks with the same number of ranks."));
  }
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

std::vector<MeetingTable::Reply> MeetingTable::look_at_the_time(TimePoint now) {
  std::vector<Reply> replies;
  for (auto& [name, places] : rounds_) {
    std::vector<int> missing;
    for (int rank = 0; rank < world_; ++rank) {
      if (!places.contains(rank)) missing.push_back(rank);
    }
    const Error error = Error(ErrorCode::kTimedOut,
                              fmt::format("{} not come to the meeting '{}'", comm::ranks_have(missing), name))
                            .with_remedy("Look whether those ranks were started, still run, and reach the "
                                         "address of the meeting.");
    for (const auto& [rank, place] : places) {
      if (now >= place.until) replies.push_back({rank, place.number, encode_refusal(error)});
    }
    std::erase_if(places, [&](const auto& each) { return now >= each.second.until; });
  }
  std::erase_if(rounds_, [](const auto& round) { return round.second.empty(); });
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
