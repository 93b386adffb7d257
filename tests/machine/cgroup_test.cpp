#include "machine/cgroup.h"

#include "machine/given_files.h"

#include <gtest/gtest.h>

namespace cohort::machine {
namespace {

constexpr const char* kMountsV2 = R"(22 1 0:20 / /proc rw - proc proc rw
30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate
)";

constexpr const char* kMountsV1 = R"(31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
)";

constexpr const char* kGroupsV1 = "9:name=systemd:/\n4:memory:/jobs/7\n1:cpu,cpuacct:/jobs\n0::/\n";

std::vector<std::string> paths(const std::vector<CgroupFolder>& folders) {
  std::vector<std::string> paths;
  for (const CgroupFolder& folder : folders) paths.push_back(folder.path);
  return paths;
}

std::vector<std::string> folders_of(const char* groups, const char* mounts, const char* controller) {
  return paths(cgroup_folders(*parse_cgroup_memberships(groups), *parse_cgroup_mounts(mounts), controller));
}

using Paths = std::vector<std::string>;

TEST(Cgroup, LimitsAreLookedForFromTheOwnGroupUpwards) {
  EXPECT_EQ(folders_of("0::/user.slice/job\n", kMountsV2, "cpu"),
            (Paths{"/sys/fs/cgroup/user.slice/job", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"}));
  EXPECT_EQ(folders_of("0::/\n", kMountsV2, "cpu"), Paths{"/sys/fs/cgroup"});
}

TEST(Cgroup, BothVersionsAreLookedAtWhereBothAreMounted) {
  EXPECT_EQ(folders_of(kGroupsV1, kMountsV1, "memory"),
            (Paths{"/sys/fs/cgroup/memory/jobs/7", "/sys/fs/cgroup/memory/jobs", "/sys/fs/cgroup/memory",
                   "/sys/fs/cgroup/unified"}));
  EXPECT_EQ(
      folders_of(kGroupsV1, kMountsV1, "cpu"),
      (Paths{"/sys/fs/cgroup/cpu,cpuacct/jobs", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/unified"}));
}

TEST(Cgroup, AContainerSeesItsGroupAtTheMountPoint) {
  const char* mounts = "35 31 0:32 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  EXPECT_EQ(folders_of("4:memory:/docker/ab\n", mounts, "memory"), Paths{"/sys/fs/cgroup/memory"});
  EXPECT_EQ(folders_of("4:memory:/docker/ab/c\n", mounts, "memory"),
            (Paths{"/sys/fs/cgroup/memory/c", "/sys/fs/cgroup/memory"}));
  EXPECT_EQ(folders_of("4:memory:/docker/abc\n", mounts, "memory"), Paths{"/sys/fs/cgroup/memory"});
  EXPECT_EQ(folders_of("0::/../other\n", kMountsV2, "memory"), Paths{"/sys/fs/cgroup"});
}

TEST(Cgroup, BlanksInMountPointsAreUnescaped) {
  EXPECT_EQ(parse_cgroup_mounts("30 23 0:26 / /my\\040groups rw - cgroup2 x rw\n")->at(0).point,
            "/my groups");
}

TEST(Cgroup, GarbageIsRefused) {
  EXPECT_FALSE(parse_cgroup_memberships("hello\n"));
  EXPECT_FALSE(parse_cgroup_memberships("1:cpu\n"));
  EXPECT_FALSE(parse_cgroup_memberships("1:cpu:relative\n"));
  EXPECT_FALSE(parse_cgroup_mounts("hello\n"));
  EXPECT_FALSE(parse_cgroup_mounts("30 23 0:26 / /sys rw - cgroup2\n"));
}

TEST(Cgroup, QuotasAreSharesOfTime) {
  EXPECT_EQ(*parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_EQ(*parse_cpu_max("max 100000\n"), std::nullopt);
  EXPECT_EQ(*parse_cpu_quota("200000\n", "100000\n"), 2.0);
  EXPECT_EQ(*parse_cpu_quota("-1\n", "100000\n"), std::nullopt);
  for (const char* text : {"", "max", "1 2 3", "a 100000", "100000 0", "0 100000", "-1 100000"})
    EXPECT_FALSE(parse_cpu_max(text)) << text;
  EXPECT_FALSE(parse_cpu_quota("-2", "100000"));
}

TEST(Cgroup, HugeMemoryLimitsAreNone) {
  EXPECT_EQ(*parse_memory_limit("1073741824\n"), 1073741824u);
  EXPECT_EQ(*parse_memory_limit("max\n"), std::nullopt);
  EXPECT_EQ(*parse_memory_limit("9223372036854771712\n"), std::nullopt);
  EXPECT_FALSE(parse_memory_limit("plenty"));
}

TEST(Cgroup, TheSmallestLimitOnTheWayUpHolds) {
  const auto read = given_files({{"/proc/self/cgroup", "0::/a/b\n"},
                                 {"/proc/self/mountinfo", kMountsV2},
                                 {"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
                                 {"/sys/fs/cgroup/a/cpu.max", "250000 100000\n"},
                                 {"/sys/fs/cgroup/a/b/memory.max", "4096\n"},
                                 {"/sys/fs/cgroup/a/memory.max", "8192\n"}});
  EXPECT_EQ(*cgroup_cpu_quota(read), 2.5);
  EXPECT_EQ(*cgroup_memory_limit(read), 4096u);
}

TEST(Cgroup, LimitsOfVersionOneAreRead) {
  const auto read =
      given_files({{"/proc/self/cgroup", kGroupsV1},
                   {"/proc/self/mountinfo", kMountsV1},
                   {"/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "50000\n"},
                   {"/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n"},
                   {"/sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes", "9223372036854771712\n"},
                   {"/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "65536\n"}});
  EXPECT_EQ(*cgroup_cpu_quota(read), 0.5);
  EXPECT_EQ(*cgroup_memory_limit(read), 65536u);
}

TEST(Cgroup, AKernelWithoutGroupsHasNoLimits) {
  EXPECT_EQ(*cgroup_cpu_quota(given_files({})), std::nullopt);
  EXPECT_EQ(*cgroup_memory_limit(given_files({})), std::nullopt);
}

TEST(Cgroup, AnUnreadableLimitIsNotTakenForNone) {
  const auto read = given_files({{"/proc/self/cgroup", "0::/\n"},
                                 {"/proc/self/mountinfo", kMountsV2},
                                 {"/sys/fs/cgroup/cpu.max", "?\n"}});
  EXPECT_EQ(cgroup_cpu_quota(read).error().code(), ErrorCode::kCorrupt);
  const ReadText refuse = [](const std::string&) -> Result<std::string> {
    return Error(ErrorCode::kPermission, "no");
  };
  EXPECT_EQ(cgroup_memory_limit(refuse).error().code(), ErrorCode::kPermission);
}

}  // namespace
}  // namespace cohort::machine
