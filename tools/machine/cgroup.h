#pragma once

#include "machine/sources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The limits that a container or a service manager puts on this process. A process is in one control group
/// per hierarchy; every group from its own up to the root of the mount may set a limit, and the smallest
/// limit counts.
///
///     /proc/self/cgroup      4:memory:/jobs/7          the group
///     /proc/self/mountinfo   … / /sys/fs/cgroup/memory … - cgroup … rw,memory      the folder of the group
///     /sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes, …/jobs/…, …              the limits

namespace cohort::machine {

enum class CgroupKind { kV1, kV2 };

/// One line of /proc/self/cgroup.
struct CgroupMembership {
  CgroupKind kind = CgroupKind::kV2;
  std::vector<std::string> controllers;  ///< empty for version 2
  std::string path;
};

/// A mounted hierarchy, from one line of /proc/self/mountinfo.
struct CgroupMount {
  CgroupKind kind = CgroupKind::kV2;
  std::vector<std::string> controllers;  ///< empty for version 2
  std::string root;                      ///< the group whose files are in `point`
  std::string point;
};

/// A folder with the limit files of one group.
struct CgroupFolder {
  CgroupKind kind = CgroupKind::kV2;
  std::string path;
};

Result<std::vector<CgroupMembership>> parse_cgroup_memberships(std::string_view text);
/// Mounts of other kinds are skipped.
Result<std::vector<CgroupMount>> parse_cgroup_mounts(std::string_view mountinfo);
/// The folders that may contain limits of `controller`: the process's own group first, then its parents.
std::vector<CgroupFolder> cgroup_folders(const std::vector<CgroupMembership>& memberships,
                                         const std::vector<CgroupMount>& mounts, std::string_view controller);

/// Parses cpu.max of version 2: `200000 100000` is 2 cores, `max 100000` is no limit.
Result<std::optional<double>> parse_cpu_max(std::string_view text);
/// Parses quota and period of version 1: a quota of -1 is no limit.
Result<std::optional<double>> parse_cpu_quota(std::string_view quota, std::string_view period);
/// Parses a number of bytes; `max` and numbers beyond any memory are no limit (both versions).
Result<std::optional<std::uint64_t>> parse_memory_limit(std::string_view text);

/// The CPU quota in cores; empty if there is no quota.
Result<std::optional<double>> cgroup_cpu_quota(const ReadText& read);
/// The memory limit of this process and its neighbours in the group; empty if there is no limit.
Result<std::optional<std::uint64_t>> cgroup_memory_limit(const ReadText& read);

}  // namespace cohort::machine
