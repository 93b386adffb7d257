#include "base/float16.h"
#include "comm/counting_transport.h"
#include "comm/message_passing/communicator.h"
#include "comm/message_passing_member.h"
#include "comm/schedule/team.h"
#include "world/world.h"
#include <cohort/random.h>

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace cohort::test {
namespace {

using comm::PlanOptions;
using Floats = std::vector<float>;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

// The outcome of one call on every rank.
struct Outcome {
  explicit Outcome(int world) : results(at(world)) {
    for (int rank = 0; rank < world; ++rank) sent_bytes.emplace_back(at(world));
  }
  std::vector<Floats> results;
  std::vector<CountingTransport::Counts> sent_bytes;  // [from][to]
};

using PlanOf = std::function<PlanOptions(int rank)>;
using MakeCall = std::function<Status(Communicator&, Floats& result)>;

WorldOutcome run_ranks(int world, const PlanOf& plan_of, const MakeCall& call, Outcome& outcome) {
  const Network network = loopback_network(world);
  return run_world(world, [&, network](RankContext& rank) -> Status {
    auto transport =
        std::make_unique<CountingTransport>(network.take(rank.rank()), outcome.sent_bytes[at(rank.rank())]);
    MessagePassingMember member(std::move(transport), network, rank.rank());
    COHORT_ASSIGN_OR_RETURN(
        const std::unique_ptr<Communicator> communicator,
        comm::MessagePassingCommunicator::make_world(
            member.exchange, member.progress,
            {.limit = std::chrono::seconds(15), .message_passing = {.plan = plan_of(rank.rank())}}));
    COHORT_RETURN_IF_ERROR(call(*communicator, outcome.results[at(rank.rank())]));
    return rank.barrier();
  });
}

// Numbers of all magnitudes between 2^-6 and 2^6, of both signs.
Floats random_floats(int rank, std::size_t count) {
  const RandomStream stream(29, static_cast<std::uint64_t>(rank));
  Floats numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto scale = static_cast<int>(stream.below(13, 2 * i)) - 6;
    numbers[i] = static_cast<float>(std::ldexp(2 * stream.uniform(2 * i + 1) - 1, scale));
  }
  return numbers;
}

struct Case {
  Operation operation = Operation::kAllReduce;
  std::string algorithm{};
  int world = 1;
  WireDType wire = WireDType::kSame;
  std::vector<int> hosts{};

  bool is_served() const {
    comm::CallFacts facts{.operation = operation, .world = world};
    facts.hosts = hosts;
    return comm::serves(comm::algorithm_of(*collective_algorithm_named(algorithm)), facts);
  }
  PlanOptions plan() const {
    return {.algorithm = collective_algorithm_named(algorithm),
            .hosts = hosts,
            .chunk_bytes = 4096,
            .wire = wire};
  }
  std::string text() const {
    return fmt::format("{} by {} of {} with {}, {} hosts", name(operation), algorithm, world, name(wire),
                       hosts.empty() ? "unknown" : "known");
  }
};

// Every case: enough elements for several chunks on every rank, and not a multiple of anything.
constexpr std::size_t kPart = 1301;

Status make_call(const Case& one, Communicator& communicator, Floats& result) {
  const std::size_t count = kPart * at(one.world);
  const Floats mine = random_floats(communicator.rank(), count);
  const std::span<const float> from(mine);
  const bool has_result = one.operation != Operation::kReduce || communicator.rank() == 0;
  result.resize(!has_result ? 0 : one.operation == Operation::kReduceScatter ? kPart : count);
  switch (one.operation) {
    case Operation::kReduce:
      return communicator.run(reduce(from, Numbers(std::span(result)), 0));
    case Operation::kReduceScatter:
      return communicator.run(reduce_scatter(from, std::span(result)));
    default:
      return communicator.run(all_reduce(from, std::span(result)));
  }
}

// How often a number, or a sum it is in, is rounded to the wire's type on its way to the result: once for
// every message of a sum, and once when the sum is complete and goes to all. Messages after that change
// nothing.
int num_roundings(const Case& one) {
  const int levels = comm::num_doublings(one.world);
  const int last = one.operation == Operation::kAllReduce ? 1 : 0;
  if (one.algorithm == "direct" || one.algorithm == "split" || one.algorithm == "star") return 1 + last;
  if (one.algorithm == "halving_doubling") return levels + 1 + last;
  if (one.algorithm == "ring") return one.world - 1 + last;
  return levels + last;  // doubling, tree, hierarchical
}

// A rounding to nearest changes y to y (1 + d), |d| ≤ u, with u = 2^-8 for bf16 and 2^-11 for f16; where y is
// below the least normal f16, it changes it by no more than e = 2^-25. An addition in f32 does the same with
// v = 2^-24. So x_i, which takes part in no more than n additions and k roundings, is in the result with a
// factor between (1 − u)^k (1 − v)^n and (1 + u)^k (1 + v)^n. Together:
//
//     |result − sum| ≤ Σ|x_i| ((1 + u)^k (1 + v)^n − 1) + n k e (1 + u)^k (1 + v)^n
double error_bound(const Case& one, double sum_of_magnitudes) {
  const int k = num_roundings(one);
  const double u = one.wire == WireDType::kBFloat16 ? 0x1p-8 : 0x1p-11;
  const double growth = std::pow(1 + u, k) * std::pow(1 + 0x1p-24, one.world);
  return sum_of_magnitudes * (growth - 1) + one.world * k * 0x1p-25 * growth;
}

void expect_close(const Case& one, const Outcome& outcome) {
  std::vector<Floats> inputs;
  for (int rank = 0; rank < one.world; ++rank) inputs.push_back(random_floats(rank, kPart * at(one.world)));
  for (int rank = 0; rank < one.world; ++rank) {
    const std::size_t first = one.operation == Operation::kReduceScatter ? kPart * at(rank) : 0;
    for (std::size_t i = 0; i < outcome.results[at(rank)].size(); ++i) {
      double sum = 0, magnitudes = 0;
      for (const Floats& input : inputs) {
        sum += static_cast<double>(input[first + i]);
        magnitudes += std::abs(static_cast<double>(input[first + i]));
      }
      const double error = std::abs(static_cast<double>(outcome.results[at(rank)][i]) - sum);
      ASSERT_LE(error, error_bound(one, magnitudes)) << one.text() << ", rank " << rank << ", element " << i;
    }
  }
}

bool have_same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Counts the cases that were checked, by algorithm: those that an algorithm does not serve are left out.
using Checked = std::map<std::string, int>;

void check(const Case& one, Checked& checked) {
  if (!one.is_served()) return;
  ++checked[one.algorithm];
  Outcome outcome(one.world);
  const WorldOutcome ended = run_ranks(
      one.world, [&](int) { return one.plan(); },
      [&](Communicator& communicator, Floats& result) { return make_call(one, communicator, result); },
      outcome);
  ASSERT_TRUE(ended.ok()) << one.text() << ": " << ended.text();
  expect_close(one, outcome);
  for (int rank = 1; rank < one.world && one.operation == Operation::kAllReduce; ++rank) {
    ASSERT_TRUE(have_same_bits(outcome.results[at(rank)], outcome.results[0]))
        << one.text() << ": rank " << rank << " has other bits";
  }
}

// Every world and placement of hosts; hierarchical needs a host with several ranks, and several hosts.
const Checked kServedAllReduces{{"direct", 18},      {"doubling", 18}, {"halving_doubling", 18},
                                {"hierarchical", 7}, {"ring", 18},     {"split", 18}};
const Checked kServedReduces{{"star", 5}, {"tree", 5}};
const Checked kServedReduceScatters{{"direct", 5}, {"doubling", 5}, {"ring", 5}};

class EveryWireDType : public ::testing::TestWithParam<WireDType> {};

TEST_P(EveryWireDType, GivesAllRanksTheSameBitsCloseToTheSum) {
  Checked checked;
  for (const int world : {1, 2, 3, 4, 5, 8}) {
    for (const auto& hosts : {std::vector<int>{}, hosts_of_two(world), hosts_in_turn(world)}) {
      for (const char* algorithm :
           {"direct", "split", "ring", "halving_doubling", "doubling", "hierarchical"}) {
        check({Operation::kAllReduce, algorithm, world, GetParam(), hosts}, checked);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_EQ(checked, kServedAllReduces);
}

TEST_P(EveryWireDType, GivesOneRankAResultCloseToTheSum) {
  Checked reduces, reduce_scatters;
  for (const int world : {1, 2, 3, 5, 8}) {
    const std::vector<int> hosts = hosts_in_turn(world);
    for (const char* algorithm : {"tree", "star"})
      check({Operation::kReduce, algorithm, world, GetParam(), hosts}, reduces);
    for (const char* algorithm : {"direct", "ring", "doubling"}) {
      check({Operation::kReduceScatter, algorithm, world, GetParam(), hosts}, reduce_scatters);
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(reduces, kServedReduces);
  EXPECT_EQ(reduce_scatters, kServedReduceScatters);
}

INSTANTIATE_TEST_SUITE_P(Both, EveryWireDType, ::testing::Values(WireDType::kBFloat16, WireDType::kFloat16),
                         [](const auto& wire) { return std::string(name(wire.param)); });

// Bytes between hosts, and inside them, of an all_reduce of numbers of one type.
struct Traffic {
  std::size_t far = 0;
  std::size_t near = 0;
};

Traffic traffic_of(DType dtype, const PlanOptions& plan) {
  const auto world = static_cast<int>(plan.hosts.size());
  Outcome outcome(world);
  const auto call = [&](Communicator& communicator, Floats&) {
    std::vector<std::byte> numbers(1000 * size_bytes(dtype));
    return communicator.run(all_reduce(Numbers(numbers.data(), 1000, dtype)));
  };
  EXPECT_WORLD_OK(run_ranks(
      world, [&](int) { return plan; }, call, outcome));
  Traffic traffic;
  for (int from = 0; from < world; ++from) {
    for (int to = 0; to < world; ++to) {
      const bool is_far = plan.hosts[at(from)] != plan.hosts[at(to)];
      (is_far ? traffic.far : traffic.near) += outcome.sent_bytes[at(from)][at(to)];
    }
  }
  return traffic;
}

// Two hosts of two by `hierarchical`: 2(h−1) S between hosts, as much inside.
TEST(Wire, HasHalfTheBytesBetweenHostsAndAllOfThemInside) {
  PlanOptions plan{.algorithm = CollectiveAlgorithm::kHierarchical, .hosts = {0, 0, 1, 1}};
  const Traffic full = traffic_of(DType::kF32, plan);
  EXPECT_EQ(full.far, 2u * 1000 * 4);
  EXPECT_EQ(full.near, 2u * 2 * 1000 * 4);
  plan.wire = WireDType::kFloat16;
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const Traffic narrow = traffic_of(dtype, plan);
    EXPECT_EQ(narrow.far, full.far / 2) << name(dtype);
    EXPECT_EQ(narrow.near, full.near) << name(dtype);
  }
  EXPECT_EQ(traffic_of(DType::kF64, plan).far, 2 * full.far);
  EXPECT_EQ(traffic_of(DType::kI32, plan).far, full.far);
}

TEST(Wire, WithoutHostsAllMessagesAreRounded) {
  Outcome outcome(2);
  const auto call = [](Communicator& communicator, Floats&) {
    Floats numbers(1000);
    return communicator.run(all_reduce(std::span(numbers)));
  };
  EXPECT_WORLD_OK(run_ranks(
      2,
      [](int) { return PlanOptions{.algorithm = CollectiveAlgorithm::kRing, .wire = WireDType::kBFloat16}; },
      call, outcome));
  EXPECT_EQ(outcome.sent_bytes[0][1], 1000u * 2);
}

// The result on one rank of an all_reduce of the same number on all ranks.
float sum_of(int world, float each, const PlanOptions& plan, ReduceOp op = ReduceOp::kSum) {
  Outcome outcome(world);
  const auto call = [&](Communicator& communicator, Floats& result) {
    result.assign(7, each);
    return communicator.run(all_reduce(std::span(result), op));
  };
  EXPECT_WORLD_OK(run_ranks(
      world, [&](int) { return plan; }, call, outcome));
  for (const Floats& result : outcome.results) EXPECT_TRUE(have_same_bits(result, outcome.results[0]));
  return outcome.results[0][0];
}

TEST(Wire, RoundsNothingInsideOneHost) {
  const float fine = 1.0F + 0x1p-20F;
  EXPECT_EQ(sum_of(2, fine, {.hosts = {3, 3}, .wire = WireDType::kBFloat16}), 2 * fine);
  EXPECT_EQ(sum_of(1, fine, {.wire = WireDType::kBFloat16}), fine);
  EXPECT_EQ(sum_of(2, fine, {.hosts = {3, 4}, .wire = WireDType::kBFloat16}), 2.0F);
}

TEST(Wire, NumbersTooLargeForF16BecomeInfinite) {
  EXPECT_EQ(sum_of(2, 40'000.0F, {.wire = WireDType::kFloat16}), std::numeric_limits<float>::infinity());
  EXPECT_EQ(sum_of(2, 40'000.0F, {.wire = WireDType::kBFloat16}), f32_from_bf16(bf16_from_f32(80'000.0F)));
}

TEST(Wire, AMeanIsDividedAfterTheLastRounding) {
  EXPECT_EQ(sum_of(3, 1.0F, {.wire = WireDType::kFloat16}, ReduceOp::kMean), 1.0F);
  EXPECT_EQ(sum_of(3, 0.125F, {.wire = WireDType::kFloat16}, ReduceOp::kMean), 0.375F / 3);
}

TEST(Wire, RanksThatDoNotAgreeAreTold) {
  Outcome outcome(3);
  const auto call = [](Communicator& communicator, Floats& result) -> Status {
    result.assign(100, 1.0F);
    const Status told = communicator.run(all_reduce(std::span(result)));
    if (told) return Error(ErrorCode::kBug, "nobody noticed");
    const std::string text = told.error().text();
    const bool names_it =
        text.find("all_reduce of 100 f32 (sum) with f16 on the wire") != std::string::npos ||
        text.find("made another call: all_reduce of 100 f32 (sum)") != std::string::npos;
    if (told.error().code() != ErrorCode::kUsage || !names_it) return told;
    return {};
  };
  EXPECT_WORLD_OK(run_ranks(
      3,
      [](int rank) {
        return PlanOptions{.algorithm = CollectiveAlgorithm::kRing,
                           .wire = rank == 1 ? WireDType::kFloat16 : WireDType::kSame};
      },
      call, outcome));
}

}  // namespace
}  // namespace cohort::test
