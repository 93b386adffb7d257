#include "world/join.h"

#include "comm/shared_memory/communicator.h"
#include "launch/variables.h"
#include "world/hosts_options.h"
#include "world/hosts_world.h"
#include "world/open_meeting.h"

#include <fmt/format.h>

namespace cohort::world {
namespace {

constexpr std::string_view kOneHost = "all ranks are on one host: shared memory carries every call\n";

Result<std::string> meeting_name(const LaunchFacts& facts) {
  if (facts.rendezvous.unix_name) return *facts.rendezvous.unix_name;
  if (facts.world > 1) {
    return Error(ErrorCode::kUsage,
                 fmt::format("{} started {} ranks without a rendezvous", name(facts.launcher), facts.world))
        .with_remedy(
            "Set COHORT_RENDEZVOUS=unix:NAME, the same for all ranks of the job, or start them with cohort "
            "run.");
  }
  return launch::fresh_unix_name();
}

Result<World> join_on_one_host(const LaunchFacts& facts, Arena& arena, const HostsOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const std::string rendezvous, meeting_name(facts));
  COHORT_ASSIGN_OR_RETURN(auto group,
                          SharedMemoryCommunicator::meet(
                              arena, {.rendezvous = rendezvous,
                                      .facts = {.rank = facts.rank,
                                                .world = facts.world,
                                                .generation = static_cast<std::uint32_t>(facts.generation),
                                                .limit = options.limit},
                                      .liveness = options.liveness,
                                      .meeting_limit = options.meeting_limit,
                                      .warn = options.warn}));
  return World{.group = std::move(group)};
}

// Whether all ranks are on this host and meet at an abstract Unix socket.
bool is_on_one_host(const LaunchFacts& facts) {
  const Rendezvous& rendezvous = facts.rendezvous;
  return facts.local_size == facts.world && rendezvous.server.empty() && !rendezvous.directory;
}

Result<World> join_hosts(const LaunchFacts& facts, Arena& arena, const HostsOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const net::JobKey key, job_key(facts));
  COHORT_ASSIGN_OR_RETURN(auto meeting, open_meeting(facts, key));
  HostsWorld world(*meeting, arena, key, options);
  COHORT_ASSIGN_OR_RETURN(auto group, world.form(static_cast<std::uint32_t>(facts.generation)));
  return World{.meeting = std::move(meeting),
               .group = std::move(group),
               .explanation = world.pricing() ? explain(world.plan(), facts.world, world.pricing()->sockets)
                                              : std::string(kOneHost)};
}

Result<World> join_by_backend(const LaunchFacts& facts, Arena& arena, const HostsOptions& options) {
  const bool is_mpi = options.links.backend == Backend::kMpi;
  if (!is_mpi && !is_on_one_host(facts)) return join_hosts(facts, arena, options);
  COHORT_ASSIGN_OR_RETURN(World world,
                          is_mpi ? join_by_mpi(facts, options) : join_on_one_host(facts, arena, options));
  world.explanation =
      is_mpi ? std::string("MPI carries every call and chooses its algorithms\n") : std::string(kOneHost);
  return world;
}

}  // namespace

Result<World> join(const LaunchFacts& facts, Arena& arena, const HostsOptions& options) {
  HostsOptions settled = options;
  settled.rank = facts.rank;
  settled.world = facts.world;
  settled.secrecy = facts.links.encrypts ? net::Secrecy::kTls : net::Secrecy::kClear;
  settled.interfaces = facts.links.interfaces;
  settled.links = options.links.over(facts.links.settings);
  settled.link_cache = facts.links.cache;
  COHORT_RETURN_IF_ERROR(check_links(settled.links));
  COHORT_ASSIGN_OR_RETURN(World world, join_by_backend(facts, arena, settled));
  if (!settled.links.explain.value_or(false)) world.explanation.clear();
  return world;
}

}  // namespace cohort::world
