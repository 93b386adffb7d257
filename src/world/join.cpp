#include "world/join.h"

#include "comm/shared_memory/communicator.h"
#include "launch/rank_variables.h"

#include <fmt/format.h>

namespace cohort::world {
namespace {

constexpr std::string_view kUnix = "unix:";

Result<std::string> meeting_name(const LaunchFacts& facts) {
  if (facts.rendezvous.unix_name) return *facts.rendezvous.unix_name;
  if (facts.world > 1) {
    return Error(ErrorCode::kUsage,
                 fmt::format("{} says that there are {} ranks, but not where they can meet",
                             name(facts.launcher), facts.world))
        .with_remedy(
            "Set COHORT_RENDEZVOUS=unix:NAME, the same for all ranks of the job, or start them with cohort "
            "run.");
  }
  COHORT_ASSIGN_OR_RETURN(const std::string fresh, launch::fresh_rendezvous());
  return fresh.substr(kUnix.size());
}

}  // namespace

Result<std::unique_ptr<Communicator>> join(const LaunchFacts& facts, Arena& arena,
                                           const JoinOptions& options) {
  if (facts.local_world != facts.world) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("{} of {} ranks are on this host", facts.local_world, facts.world))
        .with_remedy("Start all ranks on one host: there are no links between hosts yet.");
  }
  COHORT_ASSIGN_OR_RETURN(const std::string rendezvous, meeting_name(facts));
  return SharedMemoryCommunicator::meet(arena,
                                        {.rendezvous = rendezvous,
                                         .facts = {.rank = facts.rank,
                                                   .world = facts.world,
                                                   .generation = static_cast<std::uint32_t>(facts.generation),
                                                   .limit = options.limit},
                                         .liveness = options.liveness,
                                         .meeting_limit = options.meeting_limit});
}

}  // namespace cohort::world
