#include "net/file_meeting.h"
#include "net/meeting_table.h"
#include "net/tcp_meeting.h"
#include "storage/memory_file_system.h"
#include "world/world.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using net::JobKey;
using net::MeetingWithBoard;
using net::SocketAddress;

struct Setting {
  JobKey key = *JobKey::make();
  std::shared_ptr<net::MeetingServer> server{};
  std::vector<SocketAddress> addresses{};
  std::shared_ptr<MemoryFileSystem> files = std::make_shared<MemoryFileSystem>();
};

struct MeetingKind {
  std::string name;
  std::function<Setting(int world)> make;
  std::function<std::unique_ptr<MeetingWithBoard>(const Setting&, const JobKey&, int rank, int world)> join;
};

Setting served(int world) {
  Setting setting;
  Descriptor listener = value_or_throw(net::listen_at(*SocketAddress::parse("127.0.0.1:0")));
  setting.addresses = {*net::local_address(listener)};
  setting.server = std::make_shared<net::MeetingServer>(setting.key, std::move(listener), world);
  return setting;
}

/// A new kind is one line here.
std::vector<MeetingKind> meeting_kinds() {
  return {{"server", served,
           [](const Setting& setting, const JobKey& key, int rank,
              int world) -> std::unique_ptr<MeetingWithBoard> {
             return std::make_unique<net::MeetingClient>(key, rank, world, setting.addresses);
           }},
          {"file", [](int) { return Setting(); },
           [](const Setting& setting, const JobKey& key, int, int) -> std::unique_ptr<MeetingWithBoard> {
             return std::make_unique<net::FileMeeting>(key, *setting.files, "/shared/meet");
           }}};
}

class Meetings : public testing::TestWithParam<MeetingKind> {};

INSTANTIATE_TEST_SUITE_P(Every, Meetings, testing::ValuesIn(meeting_kinds()),
                         [](const auto& kind) { return kind.param.name; });

net::Round round_of(const std::string& name, const RankContext& rank, std::chrono::nanoseconds limit) {
  return {.name = name,
          .rank = rank.rank(),
          .world = rank.size(),
          .deadline = deadline_after(std::chrono::steady_clock::now(), limit)};
}

TEST_P(Meetings, EverybodyGetsTheCardsOfAllRoundAfterRound) {
  for (const int world : {1, 2, 5}) {
    const Setting setting = GetParam().make(world);
    const auto outcome = run_world(world, [&](RankContext& rank) -> Status {
      const auto meeting = GetParam().join(setting, setting.key, rank.rank(), world);
      for (const char* round : {"0.cards", "0.hosts", "1.cards"}) {
        const auto card = [&](int of) {
          return std::string(round) + std::string(static_cast<std::size_t>(of), 'x');
        };
        COHORT_ASSIGN_OR_RETURN(const auto cards,
                                meeting->gather(round_of(round, rank, 10s), card(rank.rank())));
        if (cards.size() != static_cast<std::size_t>(world)) return rank.failure("{} cards", cards.size());
        for (int of = 0; of < world; ++of) {
          if (cards[static_cast<std::size_t>(of)] != card(of)) return rank.failure("a wrong card of {}", of);
        }
      }
      return rank.barrier();
    });
    EXPECT_TRUE(outcome.ok()) << outcome.text();
  }
}

TEST_P(Meetings, WhoIsMissingIsNamed) {
  const Setting setting = GetParam().make(3);
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    const auto meeting = GetParam().join(setting, setting.key, rank.rank(), 3);
    if (rank.rank() == 1) return rank.barrier();
    const auto cards = meeting->gather(round_of("0.cards", rank, 300ms), "here");
    if (cards || cards.error().code() != ErrorCode::kTimedOut) return rank.failure("no timeout");
    if (cards.error().text().find("member 1 has not come") == std::string::npos) {
      return rank.failure("{}", cards.error().text());
    }
    return rank.barrier();
  });
  EXPECT_TRUE(outcome.ok()) << outcome.text();
}

TEST_P(Meetings, AStrangerIsNotThere) {
  const Setting setting = GetParam().make(2);
  const JobKey another = *JobKey::make();
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    const auto meeting = GetParam().join(setting, rank.rank() == 0 ? setting.key : another, rank.rank(), 2);
    const auto cards = meeting->gather(round_of("0.cards", rank, 300ms), "here");
    if (cards) return rank.failure("met a rank with another key");
    return rank.barrier();
  });
  EXPECT_TRUE(outcome.ok()) << outcome.text();
}

TEST_P(Meetings, SomeRanksMeetInAnyOrder) {
  const Setting setting = GetParam().make(4);
  const std::vector<int> members = {3, 0, 2};
  const auto outcome = run_world(4, [&](RankContext& rank) -> Status {
    const auto meeting = GetParam().join(setting, setting.key, rank.rank(), 4);
    const auto place = std::find(members.begin(), members.end(), rank.rank());
    if (place != members.end()) {
      net::Round round = round_of("1.cards", rank, 10s);
      round.rank = static_cast<int>(place - members.begin());
      round.world = 3;
      round.members = members;
      COHORT_ASSIGN_OR_RETURN(const auto cards,
                              meeting->gather(round, fmt::format("card of {}", rank.rank())));
      if (cards != std::vector<std::string>{"card of 3", "card of 0", "card of 2"})
        return rank.failure("cards");
    }
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

// Member 3 is rank 1 of the round.
TEST_P(Meetings, MissingMembersAreNamedByTheirNumbersInTheJob) {
  const Setting setting = GetParam().make(4);
  const auto outcome = run_world(1, [&](RankContext& rank) -> Status {
    const auto meeting = GetParam().join(setting, setting.key, 0, 4);
    net::Round round = round_of("1.cards", rank, 300ms);
    round.world = 3;
    round.members = {0, 3, 2};
    const auto cards = meeting->gather(round, "here");
    const std::string text = cards ? "nobody was missed" : cards.error().text();
    const bool is_named = text.find("members 2 and 3 have not come") != std::string::npos ||
                          text.find("members 3 and 2 have not come") != std::string::npos;
    return is_named ? Status() : rank.failure("{}", text);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST_P(Meetings, PostingsAreSeenWithoutWaiting) {
  const Setting setting = GetParam().make(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    const auto meeting = GetParam().join(setting, setting.key, rank.rank(), 2);
    const net::Round board = round_of("0.board", rank, 10s);
    if (rank.rank() == 0) {
      COHORT_ASSIGN_OR_RETURN(const auto alone, meeting->post(board, "first"));
      if (alone != std::vector<net::Posting>{{.card = "first"}, {}}) return rank.failure("alone");
      COHORT_RETURN_IF_ERROR(meeting->post(board, "second"));
    }
    COHORT_RETURN_IF_ERROR(rank.barrier());
    if (rank.rank() == 1) {
      COHORT_ASSIGN_OR_RETURN(const auto both, meeting->post(board, ""));
      if (both != std::vector<net::Posting>{{.card = "second"}, {.card = ""}}) return rank.failure("both");
    }
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

TEST_P(Meetings, ARoundWithoutHopeEnds) {
  const Setting setting = GetParam().make(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    const auto meeting = GetParam().join(setting, setting.key, rank.rank(), 2);
    if (rank.rank() == 0) {
      net::Round round = round_of("0.cards", rank, 10s);
      round.hopeless = [] { return std::optional(Error(ErrorCode::kPeerLost, "rank 1 has ended")); };
      const auto cards = meeting->gather(round, "here");
      if (cards || cards.error().message() != "rank 1 has ended") return rank.failure("it went on");
    }
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(MeetingServer, TellsOfRanksThatEnded) {
  const Setting setting = served(3);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    net::MeetingClient meeting(setting.key, rank.rank(), 3, setting.addresses);
    net::Round round = round_of("0.cards", rank, 10s);
    round.world = 3;
    if (rank.rank() == 0) setting.server->tell_of_end(2);
    // Rank 1 may wait already or come later; both are told.
    const auto cards = meeting.gather(round, "here");
    if (cards || cards.error().code() != ErrorCode::kPeerLost) return rank.failure("not told");
    if (cards.error().text().find("member 2 has ended, which the meeting '0.cards' waits for") ==
        std::string::npos) {
      return rank.failure("{}", cards.error().text());
    }
    COHORT_ASSIGN_OR_RETURN(const auto postings, meeting.post(round, "x"));
    if (!postings[2].has_ended || postings[0].has_ended) return rank.failure("the board does not say it");
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

/// The text of the refusal among these replies for a rank.
std::string refusal_for(const std::vector<net::MeetingTable::Reply>& replies, int rank) {
  for (const auto& reply : replies) {
    if (reply.rank != rank) continue;
    const auto decoded = net::decode_reply(reply.payload);
    return decoded ? "cards" : decoded.error().message();
  }
  return "no reply";
}

TEST(MeetingTable, ARoundThatIsGivenUpIsOverForAll) {
  net::MeetingTable table(3);
  net::CardRequest request{.round = "r", .world = 3, .wait_ms = 1000, .card = "c"};
  EXPECT_TRUE(table.lay_down(0, 1, request.encode(), {}).empty());
  net::CardRequest ending = request;
  ending.kind = net::CardRequest::Kind::kGiveUp;
  ending.card = "rank 2 has ended";
  const auto replies = table.lay_down(1, 1, ending.encode(), {});
  EXPECT_EQ(refusal_for(replies, 0), "rank 2 has ended");
  EXPECT_EQ(refusal_for(replies, 1), "rank 2 has ended");
  EXPECT_EQ(refusal_for(table.lay_down(2, 1, request.encode(), {}), 2), "rank 2 has ended");
}

TEST(MeetingTable, MembersWithDifferentListsAreTold) {
  net::MeetingTable table(3);
  net::CardRequest request{.round = "r", .world = 3, .members = {0, 1}, .wait_ms = 1000, .card = "c"};
  EXPECT_TRUE(table.lay_down(0, 1, request.encode(), {}).empty());
  request.members = {1, 0};
  const auto replies = table.lay_down(1, 1, request.encode(), {});
  for (const int rank : {0, 1}) {
    EXPECT_EQ(
        refusal_for(replies, rank),
        "members came to the meeting 'r' with different lists of members. Pass the same members in the same "
        "order on every member.");
  }
  EXPECT_NE(refusal_for(table.lay_down(2, 1, request.encode(), {}), 2).find("member 2 is not listed"),
            std::string::npos);
}

TEST(MeetingTable, PostingsHaveATextOfTheirOwn) {
  for (const net::Posting& posting : {net::Posting{},
                                      {.card = ""},
                                      {.card = ":e"},
                                      {.has_ended = true},
                                      {.card = "x", .has_ended = true}}) {
    EXPECT_EQ(*net::parse_posting(net::posting_text(posting)), posting);
  }
  for (const char* text : {"", "x", "lx", "e;"}) EXPECT_FALSE(net::parse_posting(text)) << text;
}

TEST(MeetingTable, RanksThatCountDifferentlyAreTold) {
  net::MeetingTable table(3);
  const auto replies =
      table.lay_down(0, 7, net::CardRequest{.round = "r", .world = 2, .card = "c"}.encode(), {});
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].number, 7u);
  const auto reply = net::decode_reply(replies[0].payload);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kUsage);
}

TEST(MeetingTable, WhoIsGoneHasToComeAgain) {
  net::MeetingTable table(2);
  const auto request = net::CardRequest{.round = "r", .world = 2, .wait_ms = 1000, .card = "c"}.encode();
  EXPECT_TRUE(table.lay_down(0, 1, request, {}).empty());
  table.forget(0);
  EXPECT_TRUE(table.lay_down(1, 1, request, {}).empty());
  EXPECT_EQ(table.lay_down(0, 2, request, {}).size(), 2u);
}

}  // namespace
}  // namespace cohort::test
