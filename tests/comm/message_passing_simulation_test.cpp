#include "comm/simulated_world.h"
#include "soak.h"

#include <cohort/random.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>

namespace cohort::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The events of one run, which all follow from the seed.
struct Story {
  int world = 1;
  int num_calls = 1;
  std::optional<int> victim{};  // the rank that dies after `dies_at` messages
  std::uint64_t dies_at = 0;
  std::optional<CollectiveAlgorithm> algorithm{};
};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : stream_(seed, 17) {}
  std::uint64_t below(std::uint64_t limit) { return stream_.below(limit, next_++); }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

Story story_of(std::uint64_t seed) {
  Dice dice(seed);
  Story story{.world = static_cast<int>(1 + dice.below(6)),
              .num_calls = static_cast<int>(3 + dice.below(10))};
  using enum CollectiveAlgorithm;
  constexpr std::optional<CollectiveAlgorithm> kAlgorithms[] = {std::nullopt, kRing, kHalvingDoubling,
                                                                kTree,        kStar, kDirect};
  story.algorithm = kAlgorithms[dice.below(std::size(kAlgorithms))];
  if (story.world > 1 && dice.below(2) == 1) {
    story.victim = static_cast<int>(dice.below(static_cast<std::uint64_t>(story.world)));
    story.dies_at = dice.below(60);
  }
  return story;
}

/// One of the calls of a run, with every rank's numbers and the expected result.
struct PlannedCall {
  bool is_sum = true;
  int root = 0;
  std::vector<std::vector<std::int64_t>> numbers{};
  std::vector<std::int64_t> expected{};
  std::vector<comm::Work> works{};
};

PlannedCall plan_call(Dice& dice, int world) {
  PlannedCall call{.is_sum = dice.below(2) == 0,
                   .root = static_cast<int>(dice.below(static_cast<std::uint64_t>(world)))};
  const std::size_t count = dice.below(3) == 0 ? dice.below(3000) : dice.below(9);
  call.expected.assign(count, 0);
  for (int r = 0; r < world; ++r) {
    std::vector<std::int64_t> mine(count);
    for (std::size_t i = 0; i < count; ++i) {
      mine[i] = static_cast<std::int64_t>(dice.below(1000));
      if (call.is_sum)
        call.expected[i] += mine[i];
      else if (r == call.root)
        call.expected[i] = mine[i];
    }
    call.numbers.push_back(std::move(mine));
  }
  return call;
}

void start(SimulatedWorld& world, PlannedCall& call, int num_ranks) {
  for (int r = 0; r < num_ranks; ++r) {
    const std::span<std::int64_t> mine(call.numbers[static_cast<std::size_t>(r)]);
    call.works.push_back(world[r].start(call.is_sum ? all_reduce(mine) : broadcast(mine, call.root)));
  }
}

/// The fault of a call on one rank; empty if it ended as expected.
std::string fault_of(const PlannedCall& call, int rank, const Story& story) {
  const comm::Work& work = call.works[static_cast<std::size_t>(rank)];
  if (!work.is_done()) return "it still goes on";
  const Status outcome = work.wait();
  if (outcome) {
    const bool is_right = call.numbers[static_cast<std::size_t>(rank)] == call.expected;
    return is_right ? "" : "its result is wrong";
  }
  const Error& error = outcome.error();
  if (!story.victim) return "nobody died: " + error.text();
  if (rank == *story.victim) return "";  // the outcome on the victim does not matter
  const bool is_named = error.text().find(fmt::format("rank {}", *story.victim)) != std::string::npos;
  if (error.code() != ErrorCode::kPeerLost || !is_named) return error.what();
  return "";
}

/// Runs the story and returns all faults and the virtual time that it took.
struct Played {
  std::string faults{};
  TimePoint end{};
  int num_failed = 0;
};
Played play(std::uint64_t seed) {
  const Story story = story_of(seed);
  Dice dice(seed + 1'000'000);
  SimulatedWorld world(
      story.world,
      {.network =
           {.seed = seed,
            .link = {.latency = milliseconds(1), .bytes_per_second = 1e7, .loss = 0.05, .losses_cap = 50}},
       .faults =
           [&](int member) {
             comm::TransportFaults faults{.seed = seed * 31 + static_cast<std::uint64_t>(member),
                                          .delay = 0.2,
                                          .repeat = 0.2,
                                          .split = 0.3};
             if (story.victim == member) faults.die_at = story.dies_at;
             return faults;
           },
       .communicator = {.limit = seconds(20), .message_passing = {.plan = {.algorithm = story.algorithm}}}});
  std::vector<PlannedCall> calls;
  for (int i = 0; i < story.num_calls; ++i) calls.push_back(plan_call(dice, story.world));
  for (PlannedCall& call : calls) {
    start(world, call, story.world);
    // Some calls overlap, some do not.
    if (dice.below(2) == 0) world.network().run_until_idle();
  }
  world.network().run_until(world.network().clock().now() + seconds(25));

  Played played{.end = world.network().clock().now()};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (int r = 0; r < story.world; ++r) {
      if (const std::string fault = fault_of(calls[i], r, story); !fault.empty()) {
        played.faults +=
            fmt::format("call {} of rank {} in a world of {}: {}\n", i + 1, r, story.world, fault);
      }
      const comm::Work& work = calls[i].works[static_cast<std::size_t>(r)];
      if (work.is_done() && !work.wait()) ++played.num_failed;
    }
  }
  return played;
}

TEST(MessagePassingSimulation, EverySeedEndsWithTheRightResultOrTheRightError) {
  int num_failed = 0;
  for (std::uint64_t seed = 0; seed < rounds<std::uint64_t>(300, 10000); ++seed) {
    const Played played = play(seed);
    EXPECT_EQ(played.faults, "") << "seed " << seed;
    num_failed += played.num_failed;
  }
  EXPECT_GT(num_failed, 100) << "too few calls failed: the faults are not injected";
}

TEST(MessagePassingSimulation, TheSameSeedGivesTheSameRun) {
  for (const std::uint64_t seed : {3U, 8U, 21U}) EXPECT_EQ(play(seed).end, play(seed).end);
}

}  // namespace
}  // namespace cohort::test
