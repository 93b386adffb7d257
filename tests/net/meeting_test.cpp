#include "net/file_meeting.h"
#include "net/meeting_table.h"
#include "net/tcp_meeting.h"
#include "storage/memory_file_system.h"
#include "world/world.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using net::JobKey;
using net::Meeting;
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
  std::function<std::unique_ptr<Meeting>(const Setting&, const JobKey&, int rank, int world)> join;
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
           [](const Setting& setting, const JobKey& key, int rank, int world) -> std::unique_ptr<Meeting> {
             return std::make_unique<net::MeetingClient>(key, rank, world, setting.addresses);
           }},
          {"file", [](int) { return Setting(); },
           [](const Setting& setting, const JobKey& key, int, int) -> std::unique_ptr<Meeting> {
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
    if (cards.error().text().find("rank 1 has not come") == std::string::npos) {
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
