#include "machine/survey_parts.h"

#include "machine/given_files.h"

#include <gtest/gtest.h>

namespace cohort::machine {
namespace {

using namespace std::chrono_literals;

void expect_mpi(const char* text, MpiVendor vendor, const char* version) {
  const Result<Mpi> mpi = parse_mpi_version(text);
  ASSERT_TRUE(mpi) << mpi.error().text();
  EXPECT_EQ(mpi->vendor, vendor);
  EXPECT_EQ(mpi->version, version);
}

TEST(MpiVersion, IsKnownOfThreeVendors) {
  expect_mpi("mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n",
             MpiVendor::kOpenMpi, "4.1.4");
  expect_mpi("HYDRA build details:\n    Version:                                 4.0.2\n    CC: gcc\n",
             MpiVendor::kMpich, "4.0.2");
  expect_mpi("Intel(R) MPI Library for Linux* OS, Version 2021.8 Build 20221129 (id: 339ec755a1)\n",
             MpiVendor::kIntel, "2021.8");
  EXPECT_EQ(name(MpiVendor::kMpich), "MPICH");
}

TEST(MpiVersion, OfOthersIsRefused) {
  EXPECT_EQ(parse_mpi_version("slurm 23.1\n").error().code(), ErrorCode::kUnsupported);
  EXPECT_FALSE(parse_mpi_version(""));
  EXPECT_FALSE(parse_mpi_version("mpirun (Open MPI)\n"));
  EXPECT_FALSE(parse_mpi_version("HYDRA build details:\n"));
}

TEST(SurveyMpi, TellsAMissingMpirunFromABrokenOne) {
  EXPECT_EQ(survey_mpi(no_programs(), 1s).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(
      survey_mpi(programs_that_leave({.exit_code = 1, .out = "mpirun (Open MPI) 4.1.4"}), 1s).error().text(),
      "'mpirun --version' ended with code 1");
  EXPECT_EQ(survey_mpi(programs_that_leave({.out = "mpirun (Open MPI) 5.0.3\n"}), 1s)->version, "5.0.3");
}

TEST(SurveyMpi, AsksForTheVersionWithinTheLimit) {
  std::vector<std::string> asked;
  std::chrono::nanoseconds granted{};
  const RunProgram run = [&](const std::vector<std::string>& argv,
                             std::chrono::nanoseconds limit) -> Result<ProgramOutput> {
    asked = argv;
    granted = limit;
    return ProgramOutput{};
  };
  EXPECT_FALSE(survey_mpi(run, 3s));
  EXPECT_EQ(asked, (std::vector<std::string>{"mpirun", "--version"}));
  EXPECT_EQ(granted, 3s);
}

}  // namespace
}  // namespace cohort::machine
