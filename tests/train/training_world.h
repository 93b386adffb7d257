#pragma once

#include "comm/group/communicator.h"
#include "comm/shared_memory/arena.h"
#include "comm/shared_memory/communicator.h"
#include "world/world.h"

#include <ATen/Parallel.h>
#include <atomic>
#include <fmt/format.h>
#include <functional>
#include <unistd.h>

namespace cohort::test {

using TrainingBody = std::function<void(Communicator& group, Arena& arena)>;

/// Ranks as threads that share memory as processes would.
inline WorldOutcome run_training(int world, const TrainingBody& body) {
  static std::atomic<int> num_worlds{0};
  const std::string rendezvous = fmt::format("cohort-train-test-{}-{}", ::getpid(), num_worlds.fetch_add(1));
  at::set_num_threads(1);
  return run_world(
      world,
      [=](RankContext& rank) -> Status {
        COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<Arena> arena, Arena::create(std::size_t{256} << 20));
        COHORT_ASSIGN_OR_RETURN(
            const std::unique_ptr<Communicator> group,
            SharedMemoryCommunicator::meet(
                *arena,
                {.rendezvous = rendezvous,
                 .facts = {.rank = rank.rank(), .world = rank.size(), .limit = std::chrono::seconds(15)}}));
        body(*group, *arena);
        return {};
      },
      {.deadline = std::chrono::seconds(50)});
}

}  // namespace cohort::test
