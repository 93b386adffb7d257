#include <cohort/member.h>

#include <array>
#include <cstddef>

namespace cohort {
namespace {

constexpr std::array<std::string_view, std::size(kAllRoles)> kRoleNames = {"worker", "server", "spare"};

}  // namespace

std::string_view name(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

std::optional<Role> role_named(std::string_view name) {
  for (const Role role : kAllRoles) {
    if (cohort::name(role) == name) return role;
  }
  return std::nullopt;
}

}  // namespace cohort
