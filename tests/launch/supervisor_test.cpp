#include "supervise/supervisor.h"

#include "base/error_codes.h"
#include "launch_roles.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using supervise::Stream;

// Counts lines of output; can play a reader that never reads.
class Kept final : public supervise::RankOutput {
 public:
  enum class Reader { kReads, kSleeps };
  explicit Kept(Reader reader = Reader::kReads) : reader_(reader) {}

  Status take(int, Stream, std::string_view piece) override {
    std::unique_lock lock(mutex_);
    lines_ += std::count(piece.begin(), piece.end(), '\n');
    changed_.notify_all();
    if (reader_ == Reader::kSleeps) changed_.wait(lock, [this] { return given_up_; });
    return {};
  }
  Status finish(int) override { return take(0, Stream::kOutput, ""); }
  void give_up() override {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    changed_.notify_all();
  }
  bool wait_for_lines(std::ptrdiff_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, soon(), [&] { return lines_ >= count; });
  }

 private:
  Reader reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::ptrdiff_t lines_ = 0;
  bool given_up_ = false;
};

JobPlan shell_job(int ranks, const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script},
          .ranks = ranks,
          .environment = {{"PATH", "/usr/bin:/bin"}},
          .rendezvous = "unix:test"};
}

TEST(Supervisor, RunsAllRanksToTheirEnd) {
  for (const int ranks : {1, 2, 5}) {
    Kept output;
    Supervisor supervisor(shell_job(ranks, "echo $COHORT_RANK; exit 0"), output);
    const JobOutcome outcome = value_or_throw(supervisor.run());
    EXPECT_EQ(outcome.end, JobEnd::kAllDone);
    ASSERT_EQ(outcome.ranks.size(), static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& ended = outcome.ranks[static_cast<std::size_t>(rank)];
      EXPECT_EQ(ended.status, ExitStatus{.code = 0});
      EXPECT_EQ(ended.last_output, std::deque<std::string>{std::to_string(rank)});
    }
  }
}

TEST(Supervisor, LetsTheOthersGoOnIfItIsToTellOnly) {
  struct Case {
    std::string end_of_rank_1;
    std::string end_of_rank_0;
    int exit_code;
    std::string first_line;
  };
  const std::string went_on = "; the others went on without it";
  for (const Case& each :
       {Case{"kill -9 $$", "exit 0", 0, "cohort: rank 1 was killed by signal 9 (SIGKILL)" + went_on},
        Case{"kill -9 $$", "exit 2", 2, "cohort: rank 0 failed first: it exited with 2"},
        Case{"exit 7", "exit 0", 7, "cohort: rank 1 failed first: it exited with 7"}}) {
    Kept output;
    // Rank 0 goes on until the launcher has reaped rank 1.
    const std::string file = testing::TempDir() + "/supervisor-" + std::to_string(::getpid());
    JobPlan plan =
        shell_job(2,
                  "if [ $COHORT_RANK = 1 ]; then echo $$ >$FILE.new; mv $FILE.new $FILE; $END; fi; "
                  "while ! [ -e $FILE ]; do :; done; while [ -e /proc/$(cat $FILE) ]; do :; done; $LAST");
    plan.argv[2].replace(plan.argv[2].find("$END"), 4, each.end_of_rank_1);
    plan.argv[2].replace(plan.argv[2].find("$LAST"), 5, each.end_of_rank_0);
    plan.environment["FILE"] = file;
    plan.rank_loss = RankLoss::kTell;
    Supervisor supervisor(std::move(plan), output);
    const JobOutcome outcome = value_or_throw(supervisor.run());
    std::filesystem::remove(file);
    EXPECT_EQ(outcome.exit_code(), each.exit_code);
    const std::string summary = outcome.summary();
    EXPECT_EQ(summary.substr(0, summary.find('\n')), each.first_line);
  }
}

TEST(Supervisor, NamesTheRankThatFailedFirst) {
  for (const int failing : {0, 2}) {
    Kept output;
    const std::string script = "[ $COHORT_RANK = " + std::to_string(failing) +
                               " ] && exit 4; trap 'exit 3' TERM; while true; do sleep 0.01; done";
    Supervisor supervisor(shell_job(3, script), output);
    const JobOutcome outcome = value_or_throw(supervisor.run());
    EXPECT_EQ(outcome.end, JobEnd::kRankFailed);
    EXPECT_EQ(outcome.first_failed, failing) << "not one of those that failed when they were ended";
    EXPECT_EQ(outcome.exit_code(), 4);
  }
}

// The rank that failed ends last, and only because the others have ended.
TEST(Supervisor, PassesOverRanksThatFollowed) {
  for (const int failing : {0, 2}) {
    Kept output;
    const std::string ready =
        fmt::format("{}cohort-supervisor-{}-{}", testing::TempDir(), ::getpid(), failing);
    const std::string script = fmt::format(
        "if [ $COHORT_RANK = {} ]; then trap 'exit 3' TERM; touch {}; while true; do sleep 0.01; done; "
        "else until [ -e {} ]; do sleep 0.01; done; exit {}; fi",
        failing, ready, ready, kFollowedExitCode);
    Supervisor supervisor(shell_job(3, script), output);
    const JobOutcome outcome = value_or_throw(supervisor.run());
    EXPECT_EQ(outcome.end, JobEnd::kRankFailed);
    EXPECT_EQ(outcome.first_failed, failing);
    EXPECT_EQ(outcome.exit_code(), 3);
    std::filesystem::remove(ready);
  }
}

TEST(Supervisor, BlamesARankThatFollowedIfNoOtherFailed) {
  Kept output;
  Supervisor supervisor(shell_job(2, "exit $((COHORT_RANK * " + std::to_string(kFollowedExitCode) + "))"),
                        output);
  const JobOutcome outcome = value_or_throw(supervisor.run());
  EXPECT_EQ(outcome.first_failed, 1);
  EXPECT_EQ(outcome.exit_code(), kFollowedExitCode);
}

TEST(Supervisor, WhatCannotBeStartedIsAnError) {
  Kept output;
  JobPlan plan = shell_job(2, "");
  plan.argv = {"/no/such/program"};
  Supervisor supervisor(std::move(plan), output);
  const auto outcome = supervisor.run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::kNotFound);
}

TEST(Supervisor, AnInterruptionBeforeTheStartIsHeard) {
  Kept output;
  Supervisor supervisor(shell_job(2, "sleep 1000"), output);
  supervisor.interrupt(SIGTERM);
  const JobOutcome outcome = value_or_throw(supervisor.run());
  EXPECT_EQ(outcome.interrupted_by, SIGTERM);
  EXPECT_EQ(outcome.ranks[1].status, ExitStatus{.signal = SIGTERM});
}

// A stopped process handles no signal but SIGCONT and SIGKILL.
TEST(Supervisor, AStoppedRankIsEndedByTheFirstSignal) {
  Kept output;
  Supervisor supervisor(
      shell_job(1,
                "(until grep -q '^State:.T' /proc/$$/status; do sleep 0.01; done; echo stopped) & "
                "kill -STOP $$; sleep 1000"),
      output);
  const std::jthread other([&] {
    EXPECT_TRUE(output.wait_for_lines(1));
    supervisor.interrupt(SIGTERM);
  });
  const JobOutcome outcome = value_or_throw(supervisor.run());
  EXPECT_EQ(outcome.ranks[0].status, ExitStatus{.signal = SIGTERM});
}

TEST(Supervisor, AReaderThatSleepsDoesNotHoldTheEnd) {
  Kept output(Kept::Reader::kSleeps);
  JobPlan plan = shell_job(2, "echo ready; exit 0");
  plan.grace = 10ms;
  Supervisor supervisor(std::move(plan), output);
  const std::jthread other([&] {
    EXPECT_TRUE(output.wait_for_lines(2));
    supervisor.interrupt(SIGINT);
  });
  const JobOutcome outcome = value_or_throw(supervisor.run());
  EXPECT_EQ(outcome.exit_code(), 130);
  EXPECT_TRUE(outcome.is_over());
}

}  // namespace
}  // namespace cohort::test
