#include "base/error_codes.h"
#include "launch/variables.h"
#include "supervise/agent_wire.h"
#include "supervise/host_job.h"

#include <cohort/random.h>

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using supervise::AgentFrame;
using supervise::AgentPlan;
using supervise::FrameCutter;
using supervise::HostShare;

TEST(HostList, IsRead) {
  EXPECT_EQ(*supervise::parse_hosts("a:4,b:12"), (std::vector<HostShare>{{"a", 4}, {"b", 12}}));
  EXPECT_EQ(*supervise::parse_hosts("node-1.site"), (std::vector<HostShare>{{"node-1.site", 1}}));
  EXPECT_EQ(*supervise::parse_hosts("[fe80::7]:2,[::1]"),
            (std::vector<HostShare>{{"fe80::7", 2}, {"::1", 1}}));
  EXPECT_EQ(supervise::num_ranks(*supervise::parse_hosts("a:4,b,c:2")), 7);
}

TEST(HostList, MistakesAreNamed) {
  for (const char* text :
       {"", "a,", ",a", "a:0", "a:-1", "a:x", "a:70000", ":4", "a:2,a:2", "-oProxyCommand=x", "a:2:"}) {
    const auto hosts = supervise::parse_hosts(text);
    ASSERT_FALSE(hosts) << text;
    EXPECT_EQ(hosts.error().code(), ErrorCode::kUsage);
    EXPECT_FALSE(hosts.error().remedy().empty());
  }
}

TEST(SlurmNodes, TheFirstIsFound) {
  EXPECT_EQ(launch::first_node("n1"), "n1");
  EXPECT_EQ(launch::first_node("n[03-05,9],m1"), "n03");
  EXPECT_EQ(launch::first_node("n[7]"), "n7");
  EXPECT_EQ(launch::first_node("n[3,5-9]"), "n3");
  EXPECT_EQ(launch::first_node("m1,n[1-2]"), "m1");
  EXPECT_EQ(launch::first_node("n[1-2]-ib"), "n1-ib");
  EXPECT_EQ(launch::first_node(""), std::nullopt);
  EXPECT_EQ(launch::first_node("n[1-2"), std::nullopt);
}

AgentPlan some_plan() {
  return {.argv = {"./program", "a b", ""},
          .directory = "/some/where",
          .environment = {{"A", "1"}, {"EMPTY", ""}},
          .ranks = 4,
          .first_rank = 8,
          .world = 12,
          .roles = {.servers = 2, .spares = 1},
          .rank_loss = RankLoss::kTell,
          .rendezvous = "tcp:10.0.0.1:4711",
          .key = "00",
          .is_pinned = true,
          .grace = 5s};
}

TEST(AgentWire, APlanIsWhatItWas) {
  const AgentPlan plan = some_plan();
  const auto read = AgentPlan::decode(plan.encode());
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->encode(), plan.encode());
  EXPECT_EQ(read->argv, plan.argv);
  EXPECT_EQ(read->environment, plan.environment);
  EXPECT_EQ(read->first_rank, 8);
  EXPECT_EQ(read->roles, plan.roles);
  EXPECT_EQ(read->rank_loss, RankLoss::kTell);
  EXPECT_EQ(read->grace, plan.grace);
}

TEST(AgentWire, AnOutcomeIsWhatItWas) {
  JobOutcome outcome{.end = JobEnd::kRankFailed, .first_failed = 1};
  outcome.ranks.push_back({.status = ExitStatus{.code = 0}});
  outcome.ranks.push_back({.status = ExitStatus{.signal = 9},
                           .was_stopped = true,
                           .last_output = {"a", "b"},
                           .last_error_output = {"c"}});
  outcome.ranks.push_back({});
  const auto read = supervise::decode_outcome(supervise::encode_outcome(outcome));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->end, JobEnd::kRankFailed);
  EXPECT_EQ(read->first_failed, 1);
  EXPECT_EQ(read->interrupted_by, std::nullopt);
  ASSERT_EQ(read->ranks.size(), 3u);
  EXPECT_EQ(read->ranks[0].status, outcome.ranks[0].status);
  EXPECT_EQ(read->ranks[1].status, outcome.ranks[1].status);
  EXPECT_EQ(read->ranks[1].last_output, outcome.ranks[1].last_output);
  EXPECT_EQ(read->ranks[1].last_error_output, outcome.ranks[1].last_error_output);
  EXPECT_FALSE(read->ranks[2].status);
}

TEST(AgentWire, FramesAreCutWhateverThePieces) {
  std::string stream = supervise::framed(AgentFrame::kPlan, some_plan().encode()) +
                       supervise::framed(AgentFrame::kFinished, supervise::encode_number(3)) +
                       supervise::framed(AgentFrame::kInterrupt, {});
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, stream.size()}) {
    FrameCutter cutter;
    std::vector<AgentFrame> kinds;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      cutter.add(std::string_view(stream).substr(at, piece));
      while (true) {
        const auto frame = cutter.next();
        ASSERT_TRUE(frame);
        if (!*frame) break;
        kinds.push_back((*frame)->kind);
      }
    }
    EXPECT_EQ(kinds, (std::vector{AgentFrame::kPlan, AgentFrame::kFinished, AgentFrame::kInterrupt}));
  }
}

TEST(AgentWire, ErrorsNameTheField) {
  std::vector<std::byte> plan = some_plan().encode();
  plan.pop_back();
  EXPECT_EQ(AgentPlan::decode(plan).error().text(),
            "corrupt plan: field grace is cut off after 7 bytes, expected 8");
  const std::vector<std::byte> piece{std::byte{1}, {}, {}, {}, std::byte{2}};
  EXPECT_EQ(supervise::OutputPiece::decode(piece).error().text(),
            "corrupt output of a rank: field stream is 2, expected 0 … 1");
}

TEST(AgentWire, AnErrorOfAnyCodeIsWhatItWas) {
  const Error error = supervise::decode_error(supervise::encode_error(Error(kLastErrorCode, "why")));
  EXPECT_EQ(error.code(), kLastErrorCode);
  EXPECT_EQ(error.text(), "why");
}

TEST(AgentWire, NoiseIsRefusedOrReadButNeverTrusted) {
  const RandomStream random(5, 1);
  const std::vector<std::byte> plan = some_plan().encode();
  int refused = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    std::vector<std::byte> bytes = plan;
    bytes[random.below(bytes.size(), 3 * i)] = static_cast<std::byte>(random.bits(3 * i + 1));
    if (i % 3 == 0) bytes.resize(random.below(bytes.size(), 3 * i + 2));
    const auto decoded = AgentPlan::decode(bytes);
    if (!decoded) ++refused;
    if (decoded) {
      ASSERT_GE(decoded->ranks, 1);
    }
    const auto outcome = supervise::decode_outcome(bytes);
    if (outcome) {
      ASSERT_LE(outcome->end, JobEnd::kHostLost);
    }
    const auto piece = supervise::OutputPiece::decode(bytes);
    if (piece) {
      ASSERT_LE(piece->stream, supervise::Stream::kErrorOutput);
    }
    FrameCutter cutter;
    cutter.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    (void)cutter.next();
  }
  EXPECT_GT(refused, 30'000) << "a third of the plans are cut short";
}

}  // namespace
}  // namespace cohort::test
