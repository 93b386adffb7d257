#include "machine/survey_parts.h"

#include "machine/given_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace cohort::machine {
namespace {

TEST(OsRelease, ThePrettyNameIsPreferred) {
  EXPECT_EQ(*parse_os_name("NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(*parse_os_name("NAME='Arch Linux'\nPRETTY_NAME=\n"), "Arch Linux");
  EXPECT_EQ(*parse_os_name("NAME=Alpine\n"), "Alpine");
  EXPECT_EQ(*parse_os_name("NAME=\"a \\\"b\\\"\"\n"), "a \"b\"");
  EXPECT_FALSE(parse_os_name(""));
  EXPECT_FALSE(
      parse_os_name("\x7f"
                    "ELF\n\n"));
}

TEST(SurveySystem, TellsTheKernelEvenWhenTheSystemHasNoName) {
  const System system = survey_system(given_files({}));
  EXPECT_NE(*system.kernel_release, "");
  EXPECT_EQ(system.name.error().code(), ErrorCode::kNotFound);
}

TEST(ThreadSettings, AreThoseVariablesThatDecideAboutThreads) {
  EXPECT_EQ(thread_settings({{"OMP_NUM_THREADS", "2"},
                             {"OMP_WAIT_POLICY", "PASSIVE"},
                             {"MKL_NUM_THREADS", "2"},
                             {"OPENBLAS_NUM_THREADS", "1"},
                             {"GOMP_SPINCOUNT", "0"},
                             {"KMP_BLOCKTIME", "1"},
                             {"MALLOC_ARENA_MAX", "4"},
                             {"PATH", "/bin"},
                             {"MY_OMP_NUM_THREADS", "3"}}),
            (Environment{{"OMP_NUM_THREADS", "2"},
                         {"OMP_WAIT_POLICY", "PASSIVE"},
                         {"MKL_NUM_THREADS", "2"},
                         {"OPENBLAS_NUM_THREADS", "1"},
                         {"GOMP_SPINCOUNT", "0"},
                         {"KMP_BLOCKTIME", "1"},
                         {"MALLOC_ARENA_MAX", "4"}}));
}

TEST(SurveyLimits, AreThoseOfThisProcess) {
  struct rlimit files {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  const Limits limits = survey_limits();
  ASSERT_TRUE(limits.open_files);
  EXPECT_EQ(limits.open_files->soft.value_or(RLIM_INFINITY), files.rlim_cur);
  EXPECT_EQ(limits.open_files->hard.value_or(RLIM_INFINITY), files.rlim_max);
  EXPECT_TRUE(limits.processes && limits.locked_memory_bytes && limits.core_file_bytes);
}

}  // namespace
}  // namespace cohort::machine
