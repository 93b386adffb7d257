#include "comm/shared_memory/arena.h"
#include "launch/variables.h"
#include "world/membership.h"
#include "world/world.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using world::Membership;

/// One rank of a job on one host, whose ranks are threads.
struct Job {
  std::string name = value_or_throw(launch::fresh_unix_name());
  RoleFacts roles{};

  struct Rank {
    std::unique_ptr<Arena> arena{};
    std::unique_ptr<Membership> membership{};
  };
  Result<Rank> join(const RankContext& rank, std::chrono::nanoseconds meeting_limit = 10s) const {
    LaunchFacts facts{.launcher = Launcher::kCohort,
                      .rank = rank.rank(),
                      .world = rank.size(),
                      .local_rank = rank.rank(),
                      .local_size = rank.size(),
                      .roles = roles,
                      .rendezvous = {.unix_name = name}};
    Rank own;
    COHORT_ASSIGN_OR_RETURN(own.arena, Arena::create(std::size_t{64} << 20));
    COHORT_ASSIGN_OR_RETURN(
        own.membership, Membership::join(facts, *own.arena, {.limit = 10s, .meeting_limit = meeting_limit}));
    return own;
  }
};

Result<std::int64_t> sum_of_ids(Communicator& group, const Membership& membership) {
  std::int64_t sum = static_cast<std::int64_t>(membership.own().id);
  COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(&sum, 1))));
  return sum;
}

TEST(Generations, FollowEachOtherAndOldGroupsAreRefusedByTheirNumber) {
  for (const int world : {1, 2, 5}) {
    const Job job;
    const auto outcome = run_world(world, [&](RankContext& rank) -> Status {
      COHORT_ASSIGN_OR_RETURN(const Job::Rank own, job.join(rank));
      Membership& membership = *own.membership;
      std::vector<std::unique_ptr<Communicator>> old;
      for (std::uint32_t generation = 0; generation < 4; ++generation) {
        old.push_back(membership.take_groups().own);
        COHORT_ASSIGN_OR_RETURN(const std::int64_t sum, sum_of_ids(*old.back(), membership));
        if (sum != world * (world - 1) / 2) return rank.failure("sum {}", sum);
        COHORT_ASSIGN_OR_RETURN(const auto survivors, membership.survivors());
        if (survivors != membership.members()) return rank.failure("{} survivors", survivors.size());
        COHORT_RETURN_IF_ERROR(membership.form(survivors));
        if (membership.generation() != generation + 1) return rank.failure("not the next generation");
      }
      for (std::uint32_t generation = 0; generation < 4; ++generation) {
        const Status refused = old[generation]->run(barrier());
        const std::string expected = fmt::format(
            "rank {}: barrier in group 'world' of generation {}, but the world is at generation {}",
            rank.rank(), generation, generation + 1);
        if (refused || refused.error().code() != ErrorCode::kStale || refused.error().message() != expected) {
          return rank.failure("{}", refused ? "accepted" : refused.error().text());
        }
      }
      return membership.take_groups().own->run(barrier());
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(Generations, RanksFollowTheOrderOfTheListAndRolesMayChange) {
  const Job job{.roles = {.servers = 1, .spares = 1}};
  const auto outcome = run_world(5, [&](RankContext& rank) -> Status {
    COHORT_ASSIGN_OR_RETURN(const Job::Rank own, job.join(rank));
    Membership& membership = *own.membership;
    Membership::Groups groups = membership.take_groups();
    const int expected_size = rank.rank() < 3 ? 3 : 1;
    if (groups.own->size() != expected_size || groups.everyone->size() != 5) return rank.failure("sizes");
    COHORT_ASSIGN_OR_RETURN(auto members, membership.survivors());
    std::reverse(members.begin(), members.end());
    members.front().role = Role::kWorker;  // the spare
    COHORT_RETURN_IF_ERROR(membership.form(members));
    groups = membership.take_groups();
    if (groups.everyone->rank() != 4 - rank.rank()) return rank.failure("rank {}", groups.everyone->rank());
    COHORT_ASSIGN_OR_RETURN(const std::int64_t sum, sum_of_ids(*groups.own, membership));
    const std::int64_t expected = membership.own().role == Role::kWorker ? 4 + 2 + 1 + 0 : 3;
    if (sum != expected) return rank.failure("sum {}, expected {}", sum, expected);
    return groups.everyone->run(barrier());
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Generations, MembersThatLeaveInOrderAreNoSurvivors) {
  const Job job;
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    COHORT_ASSIGN_OR_RETURN(Job::Rank own, job.join(rank));
    Membership& membership = *own.membership;
    COHORT_RETURN_IF_ERROR(membership.take_groups().own->run(barrier()));
    if (rank.rank() == 1) {
      own.membership.reset();
      return rank.barrier();
    }
    COHORT_ASSIGN_OR_RETURN(const auto survivors, membership.survivors());
    if (survivors.size() != 2 || survivors[1].id != 2) return rank.failure("{} survivors", survivors.size());
    COHORT_RETURN_IF_ERROR(membership.form(survivors));
    const auto group = membership.take_groups().own;
    COHORT_ASSIGN_OR_RETURN(const std::int64_t sum, sum_of_ids(*group, membership));
    if (sum != 2) return rank.failure("sum {}", sum);
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

// Between two generations there is no connection that could tell of it.
TEST(Generations, AMemberThatLeavesInsteadOfFormingIsMissedAtOnce) {
  const Job job;
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    COHORT_ASSIGN_OR_RETURN(Job::Rank own, job.join(rank, 60s));
    Membership& membership = *own.membership;
    COHORT_ASSIGN_OR_RETURN(const auto all, membership.survivors());
    if (rank.rank() == 1) {
      own.membership.reset();
      return rank.barrier();
    }
    const Status formed = membership.form(all);
    if (formed || formed.error().code() != ErrorCode::kPeerLost || formed.error().rank() != 1) {
      return rank.failure("{}", formed ? "formed" : formed.error().text());
    }
    COHORT_ASSIGN_OR_RETURN(const auto survivors, membership.survivors());
    if (survivors.size() != 2) return rank.failure("{} survivors", survivors.size());
    COHORT_RETURN_IF_ERROR(membership.form(survivors));
    if (membership.generation() != 2) return rank.failure("generation {}", membership.generation());
    COHORT_RETURN_IF_ERROR(membership.take_groups().own->run(barrier()));
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

// A rank that waits in a group of its own is woken by a member that looks for survivors.
TEST(Generations, SurvivorsEndTheCallsOfAllGroups) {
  const Job job;
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    COHORT_ASSIGN_OR_RETURN(const Job::Rank own, job.join(rank));
    Membership& membership = *own.membership;
    const auto group = membership.take_groups().own;
    COHORT_ASSIGN_OR_RETURN(const auto pair, group->split(rank.rank() < 2 ? 0 : 1, 0, "pair"));
    if (rank.rank() == 0) {
      const Status ended = pair->run(barrier());  // rank 1 never comes
      if (ended || ended.error().code() != ErrorCode::kAborted) return rank.failure("not woken");
      if (ended.error().text().find("looks for the survivors of generation 0") == std::string::npos) {
        return rank.failure("{}", ended.error().text());
      }
    }
    COHORT_ASSIGN_OR_RETURN(const auto survivors, membership.survivors());
    COHORT_RETURN_IF_ERROR(membership.form(survivors));
    return membership.take_groups().own->run(barrier());
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Generations, WrongListsAreRefused) {
  const Job job;
  const auto outcome = run_world(1, [&](RankContext& rank) -> Status {
    COHORT_ASSIGN_OR_RETURN(const Job::Rank own, job.join(rank));
    const auto refusal = [&](const std::vector<Member>& members) {
      const Status formed = own.membership->form(members);
      return formed ? "formed" : formed.error().message();
    };
    if (refusal({}) != "this process, member 0, is not in the list") return rank.failure("empty");
    if (refusal({{.id = 0}, {.id = 7}}) != "there is no member 7 in generation 0") return rank.failure("7");
    if (refusal({{.id = 0}, {.id = 0}}) != "member 0 is listed twice") return rank.failure("twice");
    if (own.membership->generation() != 0) return rank.failure("a refused list made a generation");
    return own.membership->form({{.id = 0}});
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Generations, MembersWithDifferentListsAreTold) {
  const Job job;
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    COHORT_ASSIGN_OR_RETURN(const Job::Rank own, job.join(rank, 2s));
    COHORT_ASSIGN_OR_RETURN(auto members, own.membership->survivors());
    if (rank.rank() == 1) members[0].role = Role::kServer;
    const Status formed = own.membership->form(members);
    const bool is_told = !formed && formed.error().text().find("different lists") != std::string::npos;
    // The rank that hears of it first hangs up; the other one may only see that it is missing.
    if (formed || (!is_told && formed.error().code() != ErrorCode::kTimedOut)) {
      return rank.failure("{}", formed ? "formed" : formed.error().text());
    }
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
