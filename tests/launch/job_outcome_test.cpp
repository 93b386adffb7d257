#include "supervise/job_outcome.h"

#include "base/error_codes.h"

#include <csignal>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

RankOutcome exited(int code) {
  return {.status = ExitStatus{.code = code}};
}
RankOutcome killed(int signal) {
  return {.status = ExitStatus{.signal = signal}};
}

TEST(JobOutcome, ThatIsFineSaysNothing) {
  const JobOutcome outcome{.ranks = {exited(0), exited(0)}};
  EXPECT_EQ(outcome.exit_code(), 0);
  EXPECT_EQ(outcome.summary(), "");
  EXPECT_TRUE(outcome.is_over());
}

TEST(JobOutcome, NamesTheFirstFailureAndGroupsTheOthers) {
  JobOutcome outcome{.end = JobEnd::kRankFailed,
                     .first_failed = 1,
                     .ranks = {killed(SIGTERM), exited(7), exited(0), killed(SIGTERM), killed(SIGKILL)}};
  outcome.ranks[1].last_output = {"step 3", "out of memory"};
  EXPECT_EQ(outcome.exit_code(), 7);
  EXPECT_EQ(outcome.summary(),
            "cohort: rank 1 failed first: it exited with 7\n"
            "cohort: its last 2 lines:\n"
            "    step 3\n"
            "    out of memory\n"
            "cohort: rank 2 exited with 0\n"
            "cohort: ranks 0, 3 were killed by signal 15 (SIGTERM)\n"
            "cohort: rank 4 was killed by signal 9 (SIGKILL)\n");
}

TEST(JobOutcome, ShowsStandardErrorBelowTheEndOfStandardOutput) {
  JobOutcome outcome{.end = JobEnd::kRankFailed, .first_failed = 0, .ranks = {exited(1)}};
  outcome.ranks[0].last_output = {"1", "2", "3", "4", "5", "6"};
  outcome.ranks[0].last_error_output = {"why"};
  EXPECT_EQ(outcome.summary(),
            "cohort: rank 0 failed first: it exited with 1\n"
            "cohort: its last 5 lines of standard output:\n"
            "    2\n    3\n    4\n    5\n    6\n"
            "cohort: its last line of standard error:\n"
            "    why\n");
  outcome.ranks[0].last_output.clear();
  EXPECT_NE(outcome.summary().find("its last line:\n    why\n"), std::string::npos) << outcome.summary();
}

TEST(JobOutcome, ExitCodesOfTheOtherEnds) {
  EXPECT_EQ(
      (JobOutcome{.end = JobEnd::kRankFailed, .first_failed = 0, .ranks = {killed(SIGSEGV)}}).exit_code(),
      128 + SIGSEGV);
  EXPECT_EQ(
      (JobOutcome{.end = JobEnd::kInterrupted, .interrupted_by = SIGINT, .ranks = {exited(0)}}).exit_code(),
      130);
  EXPECT_EQ((JobOutcome{.end = JobEnd::kTimedOut, .ranks = {killed(SIGTERM)}}).exit_code(), 1);
  EXPECT_EQ((JobOutcome{.end = JobEnd::kUnread, .ranks = {killed(SIGTERM)}}).exit_code(), 1);
  const JobOutcome lost{.ranks = {exited(0)},
                        .output_failure = Error(ErrorCode::kDiskFull, "the disk is full")};
  EXPECT_EQ(lost.exit_code(), 1) << "done, but not all of it can be read";
  EXPECT_EQ(lost.summary(), "cohort: output was lost: the disk is full\n");
}

TEST(JobOutcome, SaysWhoDidNotEnd) {
  const JobOutcome outcome{.end = JobEnd::kTimedOut, .ranks = {killed(SIGTERM), {}}};
  EXPECT_FALSE(outcome.is_over());
  EXPECT_NE(outcome.summary().find("rank 1 did not end"), std::string::npos) << outcome.summary();
}

TEST(JobOutcome, OfManyRanksStaysShort) {
  JobOutcome outcome{.end = JobEnd::kTimedOut};
  outcome.ranks.assign(1000, killed(SIGTERM));
  EXPECT_NE(outcome.summary().find("ranks 0, 1, 2, 3, 4, 5, 6, 7 and 992 more were killed"),
            std::string::npos)
      << outcome.summary();
}

JobOutcome failed(int first, std::vector<RankOutcome> ranks) {
  return {.end = JobEnd::kRankFailed, .first_failed = first, .ranks = std::move(ranks)};
}

TEST(JobOutcome, ARankThatFollowedIsBlamedOnlyWhereNoOtherFailed) {
  const JobOutcome followed = failed(1, {exited(0), exited(kFollowedExitCode)});
  const JobOutcome other = failed(0, {exited(3), killed(SIGTERM)});
  EXPECT_EQ(blamed_rank({{0, &followed}}, RankLoss::kEnd), 1);
  EXPECT_EQ(blamed_rank({{0, &followed}, {2, &other}}, RankLoss::kEnd), 2);
  EXPECT_EQ(blamed_rank({{2, &other}, {0, &followed}}, RankLoss::kEnd), 2);
}

TEST(JobOutcome, AFailureAfterTheJobWasEndedIsBlamedBeforeARankThatFollowed) {
  const JobOutcome followed = failed(0, {exited(kFollowedExitCode)});
  const JobOutcome ended{.end = JobEnd::kInterrupted,
                         .ranks = {killed(SIGTERM), exited(130), exited(0), killed(SIGKILL), exited(2)}};
  EXPECT_EQ(blamed_rank({{0, &followed}, {1, &ended}}, RankLoss::kEnd), 5);
  const JobOutcome without{.end = JobEnd::kInterrupted,
                           .ranks = {killed(SIGTERM), exited(130), killed(SIGKILL)}};
  EXPECT_EQ(blamed_rank({{0, &followed}, {1, &without}}, RankLoss::kEnd), 0);
}

TEST(JobOutcome, AKilledRankIsBlamedBeforeAnErrorThatCameFirst) {
  const JobOutcome error = failed(0, {exited(1)});
  const JobOutcome segfault = failed(0, {killed(SIGSEGV)});
  const JobOutcome ended = failed(0, {killed(SIGTERM)});
  EXPECT_EQ(blamed_rank({{0, &error}, {1, &segfault}}, RankLoss::kEnd), 1);
  EXPECT_EQ(blamed_rank({{0, &error}, {1, &ended}}, RankLoss::kEnd), 0);
}

TEST(JobOutcome, WhereKilledRanksAreMerelyLostAnErrorIsBlamed) {
  const JobOutcome lost = failed(0, {killed(SIGKILL)});
  const JobOutcome followed = failed(0, {exited(kFollowedExitCode)});
  const JobOutcome error = failed(1, {exited(0), exited(2)});
  EXPECT_EQ(blamed_rank({{0, &lost}, {1, &error}}, RankLoss::kTell), 2);
  EXPECT_EQ(blamed_rank({{0, &lost}, {1, &followed}, {2, &error}}, RankLoss::kTell), 3);
  EXPECT_EQ(blamed_rank({{0, &lost}, {1, &followed}}, RankLoss::kTell), 1);
  EXPECT_EQ(blamed_rank({{3, &lost}}, RankLoss::kTell), 3);
  EXPECT_EQ(blamed_rank({{0, &lost}, {1, &error}}, RankLoss::kEnd), 0);
}

TEST(JobOutcome, AJobThatMayLoseRanksHasReachedItsEndIfNoRankFailed) {
  const RankOutcome fine{.status = ExitStatus{.code = 0}};
  const RankOutcome killed{.status = ExitStatus{.signal = 9}};
  const RankOutcome failed{.status = ExitStatus{.code = 1}};
  const RankOutcome unheard{};
  EXPECT_TRUE(has_reached_its_end({fine, killed, unheard}));
  EXPECT_FALSE(has_reached_its_end({fine, failed}));
  EXPECT_FALSE(has_reached_its_end({killed, unheard}));
}

}  // namespace
}  // namespace cohort::test
