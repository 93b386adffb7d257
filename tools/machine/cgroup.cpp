#include "machine/cgroup.h"

#include "machine/kernel_text.h"

#include <algorithm>

namespace cohort::machine {
namespace {

bool holds(const std::vector<std::string>& names, std::string_view wanted) {
  return std::find(names.begin(), names.end(), wanted) != names.end();
}

// The part of a group's path below the root of a mount; empty if the mount does not contain the group.
std::string path_below(const std::string& root, const std::string& path) {
  const std::string prefix = root == "/" ? "" : root;
  if (path.compare(0, prefix.size(), prefix) != 0) return "";
  const std::string rest = path.substr(prefix.size());
  const bool outside = rest.find("/..") != std::string::npos;
  return outside || rest == "/" || rest.substr(0, 1) != "/" ? "" : rest;
}

// The text of a file that may be missing: the root group has no limit files.
Result<std::optional<std::string>> read_if_there(const ReadText& read, const std::string& path) {
  Result<std::string> text = read(path);
  if (text) return std::optional<std::string>(std::move(*text));
  if (text.error().code() == ErrorCode::kNotFound) return std::optional<std::string>();
  return text.error();
}

Result<std::vector<CgroupFolder>> folders_for(const ReadText& read, std::string_view controller) {
  COHORT_ASSIGN_OR_RETURN(const auto text, read_if_there(read, "/proc/self/cgroup"));
  if (!text) return std::vector<CgroupFolder>();  // a kernel without control groups
  auto memberships = parse_cgroup_memberships(*text).within("cannot parse '/proc/self/cgroup'");
  if (!memberships) return memberships.error();
  COHORT_ASSIGN_OR_RETURN(const auto mounts, parsed(read, "/proc/self/mountinfo", parse_cgroup_mounts));
  return cgroup_folders(*memberships, mounts, controller);
}

// The smallest limit that `limit_in` reads in any of the folders.
template <class Number, class LimitIn>
Result<std::optional<Number>> smallest(const std::vector<CgroupFolder>& folders, LimitIn limit_in) {
  std::optional<Number> least;
  for (const CgroupFolder& folder : folders) {
    Result<std::optional<Number>> limit = limit_in(folder);
    if (!limit) return std::move(limit).within(fmt::format("cannot read the limits in '{}'", folder.path));
    if (*limit && (!least || **limit < *least)) least = **limit;
  }
  return least;
}

Result<std::optional<double>> cpu_quota_in(const ReadText& read, const CgroupFolder& folder) {
  if (folder.kind == CgroupKind::kV2) {
    COHORT_ASSIGN_OR_RETURN(const auto text, read_if_there(read, folder.path + "/cpu.max"));
    return text ? parse_cpu_max(*text) : std::optional<double>();
  }
  COHORT_ASSIGN_OR_RETURN(const auto quota, read_if_there(read, folder.path + "/cpu.cfs_quota_us"));
  if (!quota) return std::optional<double>();
  COHORT_ASSIGN_OR_RETURN(const std::string period, read(folder.path + "/cpu.cfs_period_us"));
  return parse_cpu_quota(*quota, period);
}

Result<std::optional<std::uint64_t>> memory_limit_in(const ReadText& read, const CgroupFolder& folder) {
  const char* file = folder.kind == CgroupKind::kV2 ? "/memory.max" : "/memory.limit_in_bytes";
  COHORT_ASSIGN_OR_RETURN(const auto text, read_if_there(read, folder.path + file));
  return text ? parse_memory_limit(*text) : std::optional<std::uint64_t>();
}

}  // namespace

std::vector<CgroupFolder> cgroup_folders(const std::vector<CgroupMembership>& memberships,
                                         const std::vector<CgroupMount>& mounts,
                                         std::string_view controller) {
  std::vector<CgroupFolder> folders;
  const auto concerns = [&](const auto& group) {
    return group.kind == CgroupKind::kV2 || holds(group.controllers, controller);
  };
  for (const CgroupMembership& membership : memberships) {
    const auto mount = std::find_if(mounts.begin(), mounts.end(), [&](const CgroupMount& candidate) {
      return candidate.kind == membership.kind && concerns(candidate);
    });
    if (!concerns(membership) || mount == mounts.end()) continue;
    std::string below = path_below(mount->root, membership.path);
    for (; !below.empty(); below.resize(below.rfind('/'))) {
      folders.push_back({.kind = mount->kind, .path = mount->point + below});
    }
    folders.push_back({.kind = mount->kind, .path = mount->point});
  }
  return folders;
}

Result<std::optional<double>> cgroup_cpu_quota(const ReadText& read) {
  COHORT_ASSIGN_OR_RETURN(const auto folders, folders_for(read, "cpu"));
  return smallest<double>(folders, [&](const CgroupFolder& folder) { return cpu_quota_in(read, folder); });
}

Result<std::optional<std::uint64_t>> cgroup_memory_limit(const ReadText& read) {
  COHORT_ASSIGN_OR_RETURN(const auto folders, folders_for(read, "memory"));
  return smallest<std::uint64_t>(folders,
                                 [&](const CgroupFolder& folder) { return memory_limit_in(read, folder); });
}

}  // namespace cohort::machine
