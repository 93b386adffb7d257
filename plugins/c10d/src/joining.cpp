#include "joining.h"

#include "base/units.h"
#include "launch/environment.h"
#include "launch/own_environment.h"
#include "net/job_key.h"
#include "store_meeting.h"
#include "world/hosts_world.h"
#include "world/meeting_place.h"

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

namespace cohort::c10d_plugin {
namespace {

constexpr const char* kKeyName = "key";
constexpr const char* kLiveness = "COHORT_LIVENESS";
// Whoever was killed is noticed at once, and who does not come to a call when the call is late; a debugger
// may hold a rank for a while.
constexpr std::chrono::seconds kUsualLiveness{60};

// A group of the same name may have been here before, with the same store: what it left is not for us. Every
// rank has joined it as often.
Result<c10::intrusive_ptr<::c10d::Store>> fresh_part(const Place& place) {
  try {
    const std::int64_t time = place.store->add(fmt::format("cohort/{}", place.rank), 1);
    return c10::intrusive_ptr<::c10d::Store>(
        c10::make_intrusive<::c10d::PrefixStore>(fmt::format("cohort/time {}", time), place.store));
  } catch (const std::exception& failure) {
    return Error(ErrorCode::kIo, fmt::format("the store of the process group: {}", failure.what()));
  }
}

Result<net::JobKey> key_from_store(::c10d::Store& store, const Place& place) {
  try {
    if (place.rank == 0) {
      COHORT_ASSIGN_OR_RETURN(const net::JobKey key, net::JobKey::make());
      store.set(kKeyName, key.text());
      return key;
    }
    store.wait({kKeyName}, std::chrono::ceil<std::chrono::milliseconds>(place.limit));
    return net::JobKey::parse(store.get_to_str(kKeyName));
  } catch (const std::exception& failure) {
    return Error(ErrorCode::kIo, fmt::format("rank 0 has laid no key into the store: {}", failure.what()));
  }
}

// Rank and world are torch's to say; what else the environment says counts.
Result<LaunchFacts> facts_of(const Place& place) {
  EnvironmentVariables environment = own_environment();
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}) environment.erase(name);
  COHORT_ASSIGN_OR_RETURN(LaunchFacts facts, launch_facts(environment));
  facts.rank = place.rank;
  facts.world = place.world;
  return facts;
}

Result<std::chrono::nanoseconds> own_liveness() {
  const EnvironmentVariables environment = own_environment();
  const auto said = environment.find(kLiveness);
  if (said == environment.end() || said->second.empty()) return kUsualLiveness;
  COHORT_ASSIGN_OR_RETURN(
      const std::chrono::nanoseconds liveness,
      parse_duration(said->second).within(fmt::format("the environment has {}", kLiveness)));
  if (liveness >= std::chrono::milliseconds(10)) return liveness;
  return Error(ErrorCode::kUsage, fmt::format("the environment has {}={}, and less than 10ms is too little",
                                              kLiveness, said->second));
}

}  // namespace

Result<Joined> join(const Place& place) {
  COHORT_ASSIGN_OR_RETURN(const LaunchFacts facts, facts_of(place));
  COHORT_ASSIGN_OR_RETURN(const std::chrono::nanoseconds liveness, own_liveness());
  COHORT_ASSIGN_OR_RETURN(auto store, fresh_part(place));
  COHORT_ASSIGN_OR_RETURN(const net::JobKey key,
                          facts.key.file ? world::job_key(facts) : key_from_store(*store, place));
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<Arena> arena, Arena::create());
  StoreMeeting meeting(store);
  world::HostsWorld world(meeting, *arena, key,
                          {.rank = place.rank,
                           .world = place.world,
                           .limit = place.limit,
                           .liveness = liveness,
                           .link_limit = liveness,
                           .meeting_limit = place.limit,
                           .secrecy = facts.links.encrypts ? net::Secrecy::kTls : net::Secrecy::kClear,
                           .interfaces = facts.links.interfaces,
                           .links = facts.links.settings,
                           .link_cache = facts.links.cache});
  COHORT_ASSIGN_OR_RETURN(auto group, world.form(0));
  return Joined{.store = std::move(store), .arena = std::move(arena), .group = std::move(group)};
}

}  // namespace cohort::c10d_plugin
