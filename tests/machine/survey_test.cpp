#include "machine/survey.h"

#include "machine/diagnose.h"
#include "machine/given_files.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace cohort::machine {
namespace {

Result<std::string> read_from_disk(const std::string& path) {
  const std::ifstream file(path);
  if (!file) return Error(ErrorCode::kNotFound, "there is no file '" + path + "'");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Survey, OfThisMachineIsPlausible) {
  const Survey survey = survey_machine(
      {.read_text = read_from_disk, .run_program = no_programs(), .environment = {{"OMP_NUM_THREADS", "2"}}},
      {});
  EXPECT_GE(*survey.cores.online, 1);
  EXPECT_GE(*survey.cores.allowed, 1);
  EXPECT_GE(usable(survey.cores).value_or(0), 1);
  EXPECT_TRUE(survey.cores.quota) << survey.cores.quota.error().text();
  EXPECT_GT(*survey.memory.total_bytes, 0u);
  EXPECT_LE(*survey.memory.available_bytes, *survey.memory.total_bytes);
  EXPECT_TRUE(survey.memory.limit_bytes) << survey.memory.limit_bytes.error().text();
  EXPECT_TRUE(survey.shared_memory.memfd) << survey.shared_memory.memfd.error().text();
  EXPECT_GE(survey.limits.open_files->soft.value_or(1), 1u);
  EXPECT_TRUE(
      std::any_of(survey.interfaces->begin(), survey.interfaces->end(),
                  [](const Interface& interface) { return interface.name == "lo" && interface.loopback; }));
  EXPECT_EQ(survey.thread_settings.at("OMP_NUM_THREADS"), "2");
  EXPECT_GT(survey.disk->total_bytes, 0u);
  EXPECT_GE(survey.disk->total_bytes, survey.disk->free_bytes);
  EXPECT_NE(*survey.system.kernel_release, "");
}

TEST(Survey, WithoutAnySourceStillAnswers) {
  const MeasureSpace no_space = [](const std::string&) -> Result<Space> {
    return Error(ErrorCode::kPermission, "not allowed");
  };
  const Survey survey = survey_machine({.read_text = given_files({}),
                                        .run_program = no_programs(),
                                        .measure_space = no_space,
                                        .environment = {}},
                                       {.probe = "/probe"});
  EXPECT_FALSE(survey.cores.model);
  EXPECT_FALSE(survey.memory.total_bytes);
  EXPECT_EQ(survey.disk.error().text(), "not allowed");
  EXPECT_EQ(worst(diagnose(survey, {})), Severity::kProblem);  // no libtorch
}

TEST(Space, IsMeasuredWhereThePathIs) {
  EXPECT_GT(space_of("/")->total_bytes, 0u);
  EXPECT_EQ(space_of("/no/such/place").error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace cohort::machine
