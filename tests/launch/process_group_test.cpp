#include "supervise/process_group.h"

#include "launch_roles.h"
#include "supervise/cores.h"
#include "supervise/process.h"

#include <condition_variable>
#include <csignal>
#include <future>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cohort::test {
namespace {

// The output of a program, as it arrives.
class Heard {
 public:
  OutputToFunction listener() {
    return {[this](std::string_view piece) {
      const std::lock_guard lock(mutex_);
      text_ += piece;
      changed_.notify_all();
    }};
  }
  std::string wait_for(const std::string& end) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, soon(), [&] { return text_.find(end) != std::string::npos; });
    return text_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

Process group_of(const std::string& script, Heard& heard) {
  return value_or_throw(Process::start(
      {.argv = {"sh", "-c", script}, .output = heard.listener(), .group = ProcessGroup::kOwn}));
}

TEST(ProcessGroup, IsItsOwnOnlyWhereAsked) {
  Heard heard;
  const Process own = group_of("echo ready; sleep 1000", heard);
  const Process ours = value_or_throw(Process::start({.argv = {"sleep", "1000"}}));
  EXPECT_EQ(::getpgid(own.pid()), own.pid());
  EXPECT_EQ(::getpgid(ours.pid()), ::getpgrp());
}

TEST(ProcessGroup, OutputComesWhileItRuns) {
  Heard heard;
  Process process = group_of("echo one; sleep 1000", heard);
  EXPECT_EQ(heard.wait_for("one\n"), "one\n");
  EXPECT_FALSE(*process.poll());
  EXPECT_FALSE(process.ended_at());
  EXPECT_EQ(process.output().text, "") << "nothing is kept as well";
}

TEST(ProcessGroup, SignalsReachDescendantsAlsoAfterTheLeaderEnded) {
  Heard heard;
  Process process = group_of(
      "sh -c 'trap \"echo heard\" USR1; echo ready; while true; do sleep 0.01; done' & "
      "while true; do sleep 0.01; done",
      heard);
  heard.wait_for("ready\n");
  ASSERT_TRUE(process.signal(SIGKILL));
  EXPECT_EQ(*process.wait(soon()), ExitStatus{.signal = SIGKILL});
  EXPECT_TRUE(process.ended_at());
  EXPECT_EQ(supervise::living_groups().count(process.pid()), 1u);
  EXPECT_FALSE(process.signal(SIGTERM)) << "the leader itself has ended";
  ASSERT_TRUE(process.signal_group(SIGUSR1));
  EXPECT_NE(heard.wait_for("heard\n").find("heard\n"), std::string::npos);
}

TEST(ProcessGroup, AreListedWhileOtherProcessesComeAndGo) {
  // The shell starts and ends processes all the time; some end while their entry in /proc is read.
  Heard heard;
  const Process churn =
      group_of("for i in 1 2 3 4; do (while true; do (:)& (:)& (:)& wait; done)& done; wait", heard);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(supervise::living_groups().count(churn.pid()), 1u);
}

TEST(ProcessGroup, NobodyIsLeftAfterDestruction) {
  Heard heard;
  pid_t group = 0;
  {
    const Process process =
        group_of("(trap '' TERM; echo ready; while true; do sleep 0.01; done) & sleep 1000", heard);
    heard.wait_for("ready\n");
    group = process.pid();
    EXPECT_EQ(supervise::living_groups().count(group), 1u);
  }
  // A killed descendant may need a moment to disappear.
  const TimePoint limit = soon();
  while (supervise::living_groups().count(group) > 0 && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(supervise::living_groups().count(group), 0u);
  EXPECT_TRUE(::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) << "and the leader is reaped";
}

TEST(Process, SaysWhenItHasEnded) {
  std::promise<void> ended;
  Process process = value_or_throw(Process::start({.argv = {"true"}, .on_end = [&] { ended.set_value(); }}));
  ASSERT_EQ(ended.get_future().wait_until(soon()), std::future_status::ready);
  EXPECT_EQ(**process.poll(), ExitStatus{.code = 0});
}

TEST(Process, RunsOnTheGivenCores) {
  const int core = supervise::allowed_cores()->back();
  Process process = value_or_throw(
      Process::start({.argv = {"grep", "Cpus_allowed_list", "/proc/self/status"}, .cores = {core}}));
  EXPECT_EQ(*process.wait(soon()), ExitStatus{.code = 0});
  EXPECT_EQ(process.output().text, "Cpus_allowed_list:\t" + std::to_string(core) + "\n");
}

TEST(Process, ACoreThatIsNotThereIsAnError) {
  const auto process = Process::start({.argv = {"true"}, .cores = {65535}});
  ASSERT_FALSE(process);
  EXPECT_NE(process.error().text().find("cannot pin the program to the cores 65535"), std::string::npos);
  EXPECT_EQ(Process::start({.argv = {"true"}, .cores = {-1}}).error().code(), ErrorCode::kUsage);
}

}  // namespace
}  // namespace cohort::test
