#include "net/meeting_table.h"

#include "base/byte_stream.h"
#include "base/error_codes.h"
#include "comm/group/rank_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::net {
namespace {

constexpr std::size_t kRoundCap = 256;
constexpr std::string_view kReply = "reply of the meeting";
constexpr std::uint8_t kRefused = 0;
constexpr std::uint8_t kFine = 1;
constexpr std::uint64_t kLongestWaitMs = 24ull * 3600 * 1000;

}  // namespace

std::vector<std::byte> CardRequest::encode() const {
  return ByteWriter().number(wait_ms).number(world).text(round).text(card).take();
}

Result<CardRequest> CardRequest::decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  CardRequest request;
  request.wait_ms = std::min(reader.number<std::uint64_t>("wait"), kLongestWaitMs);
  request.world = reader.number<std::uint32_t>("world");
  request.round = reader.text("round", kRoundCap);
  request.card = reader.text("card", Meeting::kCardCap);
  COHORT_RETURN_IF_ERROR(reader.finish("request to the meeting"));
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

namespace {

Error decode_refusal(ByteReader& reader) {
  constexpr auto kLastCode = static_cast<std::uint32_t>(kLastErrorCode);
  const auto code = reader.number_within<std::uint32_t>("code", 0, kLastCode);
  const std::string text = reader.text("text", Meeting::kCardCap);
  if (const Status read = reader.mistake(kReply); !read) return read.error();
  return Error(static_cast<ErrorCode>(code), text);
}

}  // namespace

Result<std::vector<std::string>> decode_reply(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto kind = reader.number_within<std::uint8_t>("kind", kRefused, kFine);
  COHORT_RETURN_IF_ERROR(reader.mistake(kReply));
  if (kind == kRefused) return decode_refusal(reader);
  std::vector<std::string> cards;
  while (!reader.is_at_end()) {
    cards.push_back(reader.text(fmt::format("card of rank {}", cards.size()), Meeting::kCardCap));
  }
  COHORT_RETURN_IF_ERROR(reader.mistake(kReply));
  return cards;
}

std::vector<MeetingTable::Reply> MeetingTable::lay_down(int rank, std::uint64_t number,
                                                        std::span<const std::byte> request, TimePoint now) {
  const auto refuse = [&](const Error& error) {
    return std::vector<Reply>{{rank, number, encode_refusal(error)}};
  };
  const auto decoded = CardRequest::decode(request);
  if (!decoded) return refuse(decoded.error().within(fmt::format("rank {}", rank)));
  if (decoded->world != static_cast<std::uint32_t>(world_)) {
    return refuse(
        Error(ErrorCode::kUsage, fmt::format("rank {} was started as one of {} ranks, the meeting expects {}",
                                             rank, decoded->world, world_))
            .with_remedy("Start all ranks with the same number of ranks."));
  }
  forget(rank);  // a rank is in one round at a time
  Entries& entries = rounds_[decoded->round];
  entries[rank] = {number, decoded->card, now + std::chrono::milliseconds(decoded->wait_ms)};
  if (entries.size() < static_cast<std::size_t>(world_)) return {};
  std::vector<std::string> cards;
  for (const auto& [each, entry] : entries) cards.push_back(entry.card);
  std::vector<Reply> replies;
  for (const auto& [each, entry] : entries) replies.push_back({each, entry.number, encode_cards(cards)});
  rounds_.erase(decoded->round);
  return replies;
}

// Once one rank's deadline has passed the round cannot complete any more: all its ranks are told at once.
std::vector<MeetingTable::Reply> MeetingTable::expire(TimePoint now) {
  std::vector<Reply> replies;
  std::erase_if(rounds_, [&](const auto& round) {
    const auto& [name, entries] = round;
    const bool is_over = std::any_of(entries.begin(), entries.end(),
                                     [now](const auto& each) { return now >= each.second.until; });
    if (!is_over) return false;
    std::vector<int> missing;
    for (int rank = 0; rank < world_; ++rank) {
      if (!entries.contains(rank)) missing.push_back(rank);
    }
    const Error error = Error(ErrorCode::kTimedOut,
                              fmt::format("{} not come to the meeting '{}'", comm::ranks_have(missing), name))
                            .with_remedy(
                                "Check that those ranks were started, still run, and can reach the "
                                "address of the meeting.");
    for (const auto& [rank, entry] : entries) replies.push_back({rank, entry.number, encode_refusal(error)});
    return true;
  });
  return replies;
}

TimePoint MeetingTable::next_deadline() const {
  TimePoint next = TimePoint::max();
  for (const auto& [name, entries] : rounds_) {
    for (const auto& [rank, entry] : entries) next = std::min(next, entry.until);
  }
  return next;
}

void MeetingTable::forget(int rank) {
  for (auto& [name, entries] : rounds_) entries.erase(rank);
  std::erase_if(rounds_, [](const auto& round) { return round.second.empty(); });
}

}  // namespace cohort::net
