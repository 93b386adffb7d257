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
constexpr std::uint32_t kMostMembers = 1u << 20;
constexpr std::uint64_t kLongestWaitMs = 24ull * 3600 * 1000;

}  // namespace

std::vector<std::byte> CardRequest::encode() const {
  ByteWriter writer;
  writer.number(static_cast<std::uint8_t>(kind)).number(wait_ms).number(world);
  writer.number(static_cast<std::uint32_t>(members.size()));
  for (const std::uint32_t member : members) writer.number(member);
  return writer.text(round).text(card).take();
}

Result<CardRequest> CardRequest::decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  CardRequest request;
  request.kind = static_cast<Kind>(reader.number_within<std::uint8_t>(
      "kind", static_cast<std::uint8_t>(Kind::kGather), static_cast<std::uint8_t>(Kind::kGiveUp)));
  request.wait_ms = std::min(reader.number<std::uint64_t>("wait"), kLongestWaitMs);
  request.world = reader.number<std::uint32_t>("world");
  const auto num_members = reader.number_within<std::uint32_t>("number of members", 0, kMostMembers);
  for (std::uint32_t i = 0; i < num_members && reader.is_fine(); ++i) {
    request.members.push_back(reader.number<std::uint32_t>("member"));
  }
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

std::string posting_text(const Posting& posting) {
  return fmt::format("{}{}{}", posting.has_ended ? "e" : "l", posting.card ? ":" : "",
                     posting.card.value_or(""));
}

Result<Posting> parse_posting(const std::string& text) {
  const bool has_state = !text.empty() && (text[0] == 'e' || text[0] == 'l');
  if (!has_state || (text.size() > 1 && text[1] != ':')) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("corrupt posting of the meeting: '{}', expected e or l, then a card", text));
  }
  Posting posting{.has_ended = text[0] == 'e'};
  if (text.size() > 1) posting.card = text.substr(2);
  return posting;
}

namespace {

Error has_ended(int rank, const std::string& round) {
  return Error(ErrorCode::kPeerLost,
               fmt::format("member {} has ended, which the meeting '{}' waits for", rank, round))
      .with_remedy("Call survivors() and form() again.");
}

}  // namespace

std::vector<int> MeetingTable::members_of(const CardRequest& request) const {
  std::vector<int> members;
  for (const std::uint32_t member : request.members) members.push_back(static_cast<int>(member));
  for (int rank = 0; request.members.empty() && rank < world_; ++rank) members.push_back(rank);
  return members;
}

std::vector<MeetingTable::Reply> MeetingTable::lay_down(int rank, std::uint64_t number,
                                                        std::span<const std::byte> request, TimePoint now) {
  const auto refuse = [&](const Error& error) {
    return std::vector<Reply>{{rank, number, encode_refusal(error)}};
  };
  const auto decoded = CardRequest::decode(request);
  if (!decoded) return refuse(decoded.error().within(fmt::format("member {}", rank)));
  if (decoded->world != static_cast<std::uint32_t>(world_)) {
    return refuse(Error(ErrorCode::kUsage,
                        fmt::format("member {} was started as one of {} ranks, the meeting expects {}", rank,
                                    decoded->world, world_))
                      .with_remedy("Start all ranks with the same number of ranks."));
  }
  const std::vector<int> members = members_of(*decoded);
  if (std::find(members.begin(), members.end(), rank) == members.end()) {
    return refuse(Error(ErrorCode::kUsage, fmt::format("member {} is not listed for the meeting '{}' that it "
                                                       "came to",
                                                       rank, decoded->round)));
  }
  return decoded->kind == CardRequest::Kind::kPost ? post(rank, number, *decoded)
                                                   : gather(rank, number, *decoded, now);
}

std::vector<MeetingTable::Reply> MeetingTable::post(int rank, std::uint64_t number,
                                                    const CardRequest& request) {
  std::map<int, std::string>& board = boards_[request.round];
  board[rank] = request.card;
  std::vector<std::string> postings;
  for (const int member : members_of(request)) {
    Posting posting{.has_ended = ended_.contains(member)};
    if (const auto found = board.find(member); found != board.end()) posting.card = found->second;
    postings.push_back(posting_text(posting));
  }
  return {{rank, number, encode_cards(postings)}};
}

std::vector<MeetingTable::Reply> MeetingTable::refuse_all(OpenRound& round, const Error& error) const {
  std::vector<Reply> replies;
  for (const auto& [rank, entry] : round.entries) {
    replies.push_back({rank, entry.number, encode_refusal(error)});
  }
  round.entries.clear();
  round.failure = error;
  return replies;
}

std::vector<MeetingTable::Reply> MeetingTable::gather(int rank, std::uint64_t number,
                                                      const CardRequest& request, TimePoint now) {
  forget(rank);  // a rank is in one round at a time
  OpenRound& round = rounds_[request.round];
  if (round.entries.empty()) round.members = members_of(request);
  round.entries[rank] = {number, request.card, now + std::chrono::milliseconds(request.wait_ms)};
  if (round.failure) return refuse_all(round, Error(*round.failure));
  if (request.kind == CardRequest::Kind::kGiveUp) {
    return refuse_all(round, Error(ErrorCode::kPeerLost, request.card));
  }
  if (round.members != members_of(request)) {
    return refuse_all(round, Error(ErrorCode::kUsage, fmt::format("members came to the meeting '{}' with "
                                                                  "different lists of members",
                                                                  request.round))
                                 .with_remedy("Pass the same members in the same order on every member."));
  }
  for (const int member : round.members) {
    if (ended_.contains(member)) return refuse_all(round, has_ended(member, request.round));
  }
  if (round.entries.size() < round.members.size()) return {};
  std::vector<std::string> cards;
  for (const int member : round.members) cards.push_back(round.entries[member].card);
  std::vector<Reply> replies;
  for (const auto& [each, entry] : round.entries) {
    replies.push_back({each, entry.number, encode_cards(cards)});
  }
  rounds_.erase(request.round);
  return replies;
}

std::vector<MeetingTable::Reply> MeetingTable::end(int rank) {
  ended_.insert(rank);
  std::vector<Reply> replies;
  for (auto& [name, round] : rounds_) {
    if (std::find(round.members.begin(), round.members.end(), rank) == round.members.end()) continue;
    const std::vector<Reply> more = refuse_all(round, has_ended(rank, name));
    replies.insert(replies.end(), more.begin(), more.end());
  }
  return replies;
}

// Once one rank's deadline has passed the round cannot complete any more: all its ranks are told at once.
std::vector<MeetingTable::Reply> MeetingTable::expire(TimePoint now) {
  std::vector<Reply> replies;
  for (auto& [name, round] : rounds_) {
    const bool is_over = std::any_of(round.entries.begin(), round.entries.end(),
                                     [now](const auto& each) { return now >= each.second.until; });
    if (!is_over) continue;
    std::vector<int> missing;
    for (const int member : round.members) {
      if (!round.entries.contains(member)) missing.push_back(member);
    }
    const Error error = Error(ErrorCode::kTimedOut, fmt::format("{} not come to the meeting '{}'",
                                                                comm::members_have(missing), name))
                            .with_remedy(
                                "Check that those members were started, still run, and can reach the "
                                "address of the meeting.");
    const std::vector<Reply> more = refuse_all(round, error);
    replies.insert(replies.end(), more.begin(), more.end());
    round.failure.reset();  // ranks may come again
  }
  std::erase_if(rounds_,
                [](const auto& each) { return each.second.entries.empty() && !each.second.failure; });
  return replies;
}

TimePoint MeetingTable::next_deadline() const {
  TimePoint next = TimePoint::max();
  for (const auto& [name, round] : rounds_) {
    for (const auto& [rank, entry] : round.entries) next = std::min(next, entry.until);
  }
  return next;
}

void MeetingTable::forget(int rank) {
  for (auto& [name, round] : rounds_) round.entries.erase(rank);
  std::erase_if(rounds_,
                [](const auto& each) { return each.second.entries.empty() && !each.second.failure; });
}

}  // namespace cohort::net
