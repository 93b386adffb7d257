#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort {

/// The part that a process has in a job.
enum class Role : std::uint8_t {
  kWorker,  ///< trains
  kServer,  ///< serves workers
  kSpare,   ///< waits to take the place of a lost member
};

inline constexpr Role kAllRoles[] = {Role::kWorker, Role::kServer, Role::kSpare};

/// `worker`, `server`, `spare`, as in COHORT_ROLE.
COHORT_EXPORT std::string_view name(Role role);
/// The role with this name; empty for an unknown name.
COHORT_EXPORT std::optional<Role> role_named(std::string_view name);

/// A process of a job. Its id stays the same for as long as it lives; its rank is a position in the groups of
/// one generation.
struct Member {
  std::uint64_t id = 0;  ///< the number that the launcher gave it
  Role role = Role::kWorker;
  int host = 0;  ///< members with the same number are on the same host

  bool operator==(const Member&) const = default;
};

}  // namespace cohort
