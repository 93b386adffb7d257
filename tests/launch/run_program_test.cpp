#include "supervise/run_program.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

using namespace std::chrono_literals;

TEST(RunProgram, ReturnsWhatItWroteAndItsExitCode) {
  const auto output = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"}, 30s);
  ASSERT_TRUE(output) << output.error().text();
  EXPECT_EQ(output->exit_code, 3);
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
}

TEST(RunProgram, EverythingElseIsAnError) {
  const auto missing = run_program({"no-such-program"}, 30s);
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  const auto killed = run_program({"sh", "-c", "kill -9 $$"}, 30s);
  EXPECT_EQ(killed.error().code(), ErrorCode::kAborted);
  EXPECT_EQ(killed.error().text(), "'sh' was killed by signal 9 (SIGKILL)");
  const auto slow = run_program({"sleep", "1000"}, 10ms);
  EXPECT_EQ(slow.error().code(), ErrorCode::kTimedOut);
  EXPECT_EQ(slow.error().text(), "'sleep' did not end within 10 ms");
  const auto chatty = run_program({"head", "-c", "17825792", "/dev/zero"}, 30s);
  EXPECT_EQ(chatty.error().code(), ErrorCode::kExhausted);
  EXPECT_EQ(chatty.error().text(), "'head' wrote 1 MiB more than the limit of 16 MiB per stream");
}

}  // namespace
}  // namespace cohort
