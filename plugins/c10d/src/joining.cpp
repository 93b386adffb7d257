#include "joining.h"

#include "launch/environment.h"
#include "launch/variable_reader.h"
#include "net/job_key.h"
#include "store_meeting.h"
#include "world/hosts_world.h"
#include "world/open_meeting.h"

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

namespace cohort::c10d_plugin {
namespace {

constexpr const char* kKeyName = "key";
// Long, so that a debugger may hold a rank for a while. A killed rank is noticed at once all the same, and a
// rank that does not make a call at the call's timeout.
constexpr std::chrono::seconds kUsualLiveness{60};

// An earlier group of the same name may have left keys in the same store. All ranks have joined such groups
// equally often, so a counter for each rank gives all of them the same fresh prefix.
Result<c10::intrusive_ptr<::c10d::Store>> fresh_part(const Membership& membership) {
  try {
    const std::int64_t time = membership.store->add(fmt::format("cohort/{}", membership.rank), 1);
    return c10::intrusive_ptr<::c10d::Store>(
        c10::make_intrusive<::c10d::PrefixStore>(fmt::format("cohort/time {}", time), membership.store));
  } catch (const std::exception& failure) {
    return Error(ErrorCode::kIo, fmt::format("the store of the process group: {}", failure.what()));
  }
}

Result<net::JobKey> key_from_store(::c10d::Store& store, const Membership& membership) {
  try {
    if (membership.rank == 0) {
      COHORT_ASSIGN_OR_RETURN(const net::JobKey key, net::JobKey::make());
      store.set(kKeyName, key.text());
      return key;
    }
    store.wait({kKeyName}, std::chrono::ceil<std::chrono::milliseconds>(membership.limit));
    return net::JobKey::parse(store.get_to_str(kKeyName));
  } catch (const std::exception& failure) {
    return Error(ErrorCode::kIo, fmt::format("no key from rank 0 in the store: {}", failure.what()));
  }
}

// Settings come from the environment, except rank and number of ranks: those of this group come from torch.
Result<LaunchFacts> facts_of(const Membership& membership) {
  EnvironmentVariables environment = own_environment();
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}) environment.erase(name);
  COHORT_ASSIGN_OR_RETURN(LaunchFacts facts, launch_facts(environment));
  facts.rank = membership.rank;
  facts.world = membership.world;
  return facts;
}

}  // namespace

Result<Joined> join(const Membership& membership) {
  COHORT_ASSIGN_OR_RETURN(const LaunchFacts facts, facts_of(membership));
  const std::chrono::nanoseconds liveness = facts.limits.liveness.value_or(kUsualLiveness);
  COHORT_ASSIGN_OR_RETURN(auto store, fresh_part(membership));
  COHORT_ASSIGN_OR_RETURN(const net::JobKey key,
                          facts.key.file ? world::job_key(facts) : key_from_store(*store, membership));
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<Arena> arena, Arena::create());
  StoreMeeting meeting(store);
  world::HostsWorld world(meeting, *arena, key,
                          {.rank = membership.rank,
                           .world = membership.world,
                           .limit = membership.limit,
                           .liveness = liveness,
                           .link_limit = liveness,
                           .meeting_limit = membership.limit,
                           .secrecy = facts.links.encrypts ? net::Secrecy::kTls : net::Secrecy::kClear,
                           .interfaces = facts.links.interfaces,
                           .links = facts.links.settings,
                           .link_cache = facts.links.cache});
  COHORT_ASSIGN_OR_RETURN(auto group, world.form(0));
  return Joined{.store = std::move(store), .arena = std::move(arena), .group = std::move(group)};
}

}  // namespace cohort::c10d_plugin
