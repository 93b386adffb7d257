#include "copies/kept_state.h"
#include "copies/neighbour_copies.h"
#include "launch/variables.h"
#include "state/move.h"
#include "world/membership.h"
#include "world/world.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using world::Membership;

LaunchFacts facts_of(const RankContext& rank, const std::string& name) {
  return {.launcher = Launcher::kCohort,
          .rank = rank.rank(),
          .world = rank.size(),
          .local_rank = rank.rank(),
          .local_size = rank.size(),
          .rendezvous = {.unix_name = name}};
}

// A rank ends by an exception: its copies, its group and its arena are destroyed in order. The others form
// the next generation and read what it has left behind.
TEST(LeavingRank, LeavesItsCopiesToTheOthers) {
  const std::string name = value_or_throw(launch::fresh_unix_name());
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    const RandomState state(4, 60);  // some pages: the kernel takes back whole pages of freed memory
    COHORT_ASSIGN_OR_RETURN(auto arena, Arena::create(std::size_t{64} << 20));
    COHORT_ASSIGN_OR_RETURN(auto membership, Membership::join(facts_of(rank, name), *arena,
                                                              {.limit = 10s, .meeting_limit = 10s}));
    auto group = membership->take_groups().own;
    std::optional<NeighbourCopies> copies(*arena);
    COHORT_RETURN_IF_ERROR(copies->join(*group));
    KeptState mine(state, 3, static_cast<std::size_t>(rank.rank()), 1);
    mine.become(9);
    COHORT_RETURN_IF_ERROR(copies->keep(9, mine.pieces()));
    COHORT_RETURN_IF_ERROR(copies->settle());
    COHORT_RETURN_IF_ERROR(rank.barrier());
    group.reset();
    if (rank.rank() == 1) {
      copies.reset();
      membership.reset();
      arena.reset();
      COHORT_RETURN_IF_ERROR(rank.barrier());
      return rank.barrier();
    }
    COHORT_RETURN_IF_ERROR(rank.barrier());
    COHORT_ASSIGN_OR_RETURN(const auto survivors, membership->survivors());
    COHORT_RETURN_IF_ERROR(membership->form(survivors));
    group = membership->take_groups().own;
    COHORT_RETURN_IF_ERROR(copies->join(*group));
    COHORT_ASSIGN_OR_RETURN(const auto kept, copies->last());
    const KeptState restored(state, 2, static_cast<std::size_t>(group->rank()), 2);
    COHORT_RETURN_IF_ERROR(state::move(restored.pieces(), *kept.source));
    if (const auto wrong = restored.differs_from(9, 3)) return rank.failure("{}", *wrong);
    COHORT_RETURN_IF_ERROR(group->run(barrier()));
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
