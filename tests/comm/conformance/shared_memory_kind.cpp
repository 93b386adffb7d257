#include "comm/conformance/shared_memory_kind.h"

#include "comm/shared_memory/arena_resource.h"
#include "comm/shared_memory/communicator.h"

#include <atomic>
#include <fmt/format.h>
#include <unistd.h>

namespace cohort::test {
namespace {

bool lies_in_arena(InArena in_arena, int rank) {
  return in_arena == InArena::kEverybodys || (in_arena == InArena::kThoseOfOddRanks && rank % 2 == 1);
}

}  // namespace

Kind shared_memory_kind(const std::string& name, InArena in_arena) {
  const auto run = [in_arena](int world, const SeatBody& body, const SeatOptions& options) {
    static std::atomic<int> num_worlds{0};
    const std::string rendezvous = fmt::format("cohort-test-{}-{}", ::getpid(), num_worlds.fetch_add(1));
    return run_world(world, [=](RankContext& rank) -> Status {
      COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<Arena> arena, Arena::create());
      COHORT_ASSIGN_OR_RETURN(
          std::unique_ptr<Communicator> communicator,
          SharedMemoryCommunicator::meet(*arena, {.rendezvous = rendezvous,
                                                  .facts = {.rank = rank.rank(),
                                                            .world = rank.size(),
                                                            .generation = options.generation,
                                                            .limit = options.limit}}));
      ArenaResource memory(*arena);
      Seat seat{.rank = rank, .communicator = communicator, .arena = arena.get()};
      if (lies_in_arena(in_arena, rank.rank())) seat.memory = &memory;
      return body(seat);
    });
  };
  return {.name = name, .run = run};
}

}  // namespace cohort::test
