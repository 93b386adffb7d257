#include "launch/launching_mpi.h"

#include <gtest/gtest.h>
#include <set>

namespace cohort::test {
namespace {

using launch::LaunchingMpi;
using Kind = LaunchingMpi::Kind;

struct Traces {
  EnvironmentVariables environment{};
  std::vector<std::string> ancestors{};
  std::set<std::string> files{};
};

Result<LaunchingMpi> place_of(Launcher launcher, const Traces& traces) {
  return launch::launching_mpi(
      launcher, {.environment = traces.environment,
                 .ancestors = traces.ancestors,
                 .exists = [&](const std::string& file) { return traces.files.contains(file); }});
}

TEST(LaunchingMpi, IsBesideTheLauncherThatStartedTheRank) {
  const Traces traces{.environment = {{"OPAL_PREFIX", "/opt/another"}},
                      .ancestors = {"/bin/sh", "/opt/mpi/bin/prterun", "/usr/bin/bash"},
                      .files = {"/opt/mpi/lib/libmpi.so.40", "/opt/another/lib/libmpi.so.40"}};
  EXPECT_EQ(*place_of(Launcher::kOpenMpi, traces),
            (LaunchingMpi{Kind::kOpenMpi, "/opt/mpi/lib/libmpi.so.40"}));
  EXPECT_EQ(*place_of(Launcher::kHydra, {.ancestors = {"/opt/mpich/bin/hydra_pmi_proxy"},
                                         .files = {"/opt/mpich/lib64/libmpich.so.12"}}),
            (LaunchingMpi{Kind::kMpich, "/opt/mpich/lib64/libmpich.so.12"}));
}

TEST(LaunchingMpi, OfALauncherOfTheSystemIsTheSystems) {
  EXPECT_EQ(*place_of(Launcher::kOpenMpi, {.ancestors = {"/usr/bin/orterun"}}),
            (LaunchingMpi{Kind::kOpenMpi, ""}));
  EXPECT_EQ(*place_of(Launcher::kHydra, {}), (LaunchingMpi{Kind::kMpich, ""}));
}

TEST(LaunchingMpi, IsWhatTheVariablesOfOpenMpiSayWhereNoLauncherIsSeen) {
  EXPECT_EQ(place_of(Launcher::kOpenMpi,
                     {.environment = {{"OPAL_PREFIX", "/opt/mpi"}}, .files = {"/opt/mpi/lib/libmpi.so.40"}})
                ->library,
            "/opt/mpi/lib/libmpi.so.40");
  EXPECT_EQ(place_of(Launcher::kOpenMpi,
                     {.environment = {{"OPAL_PREFIX", "/opt/mpi"}, {"OMPI_LIBDIR_LOC", "/opt/mpi/lib64"}},
                      .files = {"/opt/mpi/lib64/libmpi.so.40"}})
                ->library,
            "/opt/mpi/lib64/libmpi.so.40");
  EXPECT_EQ(place_of(Launcher::kOpenMpi, {.environment = {{"OPAL_PREFIX", "/gone"}}})->library, "");
}

TEST(LaunchingMpi, IsTheOneThatTheUserNames) {
  EXPECT_EQ(place_of(Launcher::kOpenMpi, {.environment = {{"COHORT_MPI_LIBRARY", "/own/libmpi.so"}},
                                          .ancestors = {"/opt/mpi/bin/prterun"},
                                          .files = {"/opt/mpi/lib/libmpi.so.40"}})
                ->library,
            "/own/libmpi.so");
}

TEST(LaunchingMpi, UnderSlurmFollowsFromTheProcessManager) {
  EXPECT_EQ(place_of(Launcher::kSlurm, {.environment = {{"PMIX_RANK", "0"}}})->kind, Kind::kOpenMpi);
  EXPECT_EQ(place_of(Launcher::kSlurm, {.environment = {{"PMI_FD", "4"}}})->kind, Kind::kMpich);
  const auto none = place_of(Launcher::kSlurm, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kUsage);
  EXPECT_NE(none.error().remedy().find("--mpi=pmix"), std::string::npos);
}

TEST(LaunchingMpi, OfALauncherThatIsNoMpiIsAMistake) {
  for (const Launcher launcher : {Launcher::kNone, Launcher::kCohort, Launcher::kTorchrun}) {
    const auto place = place_of(launcher, {});
    ASSERT_FALSE(place);
    EXPECT_EQ(place.error().code(), ErrorCode::kUsage);
    EXPECT_NE(place.error().message().find(name(launcher)), std::string::npos) << place.error().text();
    EXPECT_NE(place.error().remedy().find("mpirun"), std::string::npos);
  }
}

}  // namespace
}  // namespace cohort::test
