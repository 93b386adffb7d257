#include "processes/roles.h"

#include "processes/processes.h"

#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

const auto kSafetyNet = 30s;

TimePoint soon() {
  return std::chrono::steady_clock::now() + kSafetyNet;
}

[[noreturn]] void hang() {
  while (true) ::pause();
}

int tell(const RoleCall& call) {
  fmt::print("{} of {}", call.rank, call.world);
  for (const std::string& arg : call.args) fmt::print(" <{}>", arg);
  if (const char* colour = std::getenv("COLOUR")) fmt::print(" {}", colour);
  return 0;
}

// args: the rank that fails, and its exit code or signal.
int exit_there(const RoleCall& call) {
  if (call.rank != std::stoi(call.args.at(0))) hang();
  fmt::print(stderr, "first\nthis is why\n");
  return std::stoi(call.args.at(1));
}

int crash_there(const RoleCall& call) {
  if (call.rank == std::stoi(call.args.at(0))) ::raise(std::stoi(call.args.at(1)));
  hang();
}

int stop_itself(const RoleCall& call) {
  if (!call.args.empty()) ::signal(SIGTERM, SIG_IGN);
  ::raise(SIGSTOP);
  hang();
}

int throw_something(const RoleCall&) {
  throw std::out_of_range("index 9");
}

int run_a_rank_that_never_returns(const RoleCall&) {
  const auto outcome = run_world(2,
                                 [](RankContext& rank) -> Status {
                                   if (rank.rank() == 1) hang();
                                   return {};
                                 },
                                 {.deadline = 200ms, .grace = 200ms});
  fmt::print("{}", outcome.cause->text());
  std::fflush(stdout);
  return 0;
}

TEST(Roles, GetTheirCallAndTheirExitCodeIsKept) {
  Process process = spawn_role("exit_there", {.rank = 2, .world = 3, .args = {"2", "5"}});
  EXPECT_EQ(*process.wait(soon()), ExitStatus{.code = 5});
  Process teller = spawn_role("tell", {.rank = 1, .world = 4, .args = {"a b", ""}});
  EXPECT_EQ(*teller.wait(soon()), ExitStatus{.code = 0});
  EXPECT_EQ(teller.output().text, "1 of 4 <a b> <>");
}

TEST(Roles, AnUnknownRoleAndAThrowingOneSaySo) {
  Process unknown = spawn_role("nobody");
  EXPECT_EQ(*unknown.wait(soon()), ExitStatus{.code = 2});
  EXPECT_EQ(unknown.error_output().text, "this test program has no role 'nobody'\n");
  Process throwing = spawn_role("throw_something");
  EXPECT_EQ(*throwing.wait(soon()), ExitStatus{.code = 70});
  EXPECT_EQ(throwing.error_output().text, "role 'throw_something' threw: index 9\n");
}

TEST(Roles, AStoppedProcessIsEnded) {
  for (const bool ignores_asking : {false, true}) {
    RoleCall call;
    if (ignores_asking) call.args = {"ignore SIGTERM"};
    Process process = spawn_role("stop_itself", call);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process.pid()), &info, WSTOPPED), 0);
    EXPECT_EQ(info.si_code, CLD_STOPPED);
    const auto grace = ignores_asking ? 50ms : std::chrono::nanoseconds(kSafetyNet);
    EXPECT_EQ(process.terminate(grace)->signal, ignores_asking ? SIGKILL : SIGTERM);
  }
}

TEST(World, ARankThatNeverReturnsEndsTheProcess) {
  Process process = spawn_role("run_a_rank_that_never_returns");
  EXPECT_EQ(*process.wait(soon()), ExitStatus{.code = 70});
  EXPECT_EQ(process.output().text, "rank 1 did not return within 200 ms");
  const std::string said = process.error_output().text;
  EXPECT_EQ(said.find("run_world: rank 1 did not return"), 0u) << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << "one line: " << said;
}

TEST(Processes, AllRanksRunAndSucceed) {
  for (const int n : {1, 2, 5, 8}) {
    const auto outcome = run_processes(n, "tell", {"x"}, {.environment = {{"COLOUR", "green"}}});
    EXPECT_WORLD_OK(outcome);
    ASSERT_EQ(outcome.process.size(), static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(outcome.process[static_cast<std::size_t>(i)].output, fmt::format("{} of {} <x> green", i, n));
    }
  }
}

TEST(Processes, AnExitCodeIsInEveryOutcomeAndEndsTheRest) {
  for (const int n : {1, 2, 5}) {
    const int bad = n / 2;
    const auto outcome = run_processes(n, "exit_there", {std::to_string(bad), "3"});
    EXPECT_EQ(outcome.world.first_failed, bad);
    EXPECT_EQ(outcome.world.not_returned, std::vector<int>{});
    const std::string words = "its process exited with 3, last saying 'this is why'";
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(outcome.world.rank[at].error().root().message(), words);
      EXPECT_EQ(outcome.process[at].status, i == bad ? ExitStatus{.code = 3} : ExitStatus{.signal = SIGTERM});
      EXPECT_EQ(outcome.world.rank[at].error().code(), i == bad ? ErrorCode::kPeerLost : ErrorCode::kAborted);
    }
  }
}

TEST(Processes, ACrashIsInEveryOutcome) {
  const auto outcome = run_processes(3, "crash_there", {"1", std::to_string(SIGKILL)});
  EXPECT_EQ(outcome.world.cause->text(), "its process was killed by signal 9 (SIGKILL)");
  EXPECT_EQ(outcome.world.cause->code(), ErrorCode::kPeerLost);
  EXPECT_EQ(outcome.world.rank[0].error().text(),
            "rank 1 failed: its process was killed by signal 9 (SIGKILL)");
}

TEST(Processes, ADeadlineEndsThoseThatHang) {
  const auto outcome = run_processes(2, "crash_there", {"7", "9"}, {.deadline = 100ms});
  EXPECT_EQ(outcome.world.cause->text(), "ranks 0 and 1 did not return within 100 ms");
  for (const RankProcess& ran : outcome.process) EXPECT_EQ(ran.status, ExitStatus{.signal = SIGTERM});
}

TEST(Processes, ADeadlineEndsThoseThatAreStopped) {
  const auto outcome =
      run_processes(2, "stop_itself", {"ignore SIGTERM"}, {.deadline = 500ms, .grace = 100ms});
  EXPECT_EQ(outcome.world.cause->code(), ErrorCode::kTimedOut);
  EXPECT_EQ(outcome.world.not_returned, std::vector<int>{});
  for (const RankProcess& ran : outcome.process) EXPECT_TRUE(ran.status && ran.status->signal);
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  using namespace cohort::test;
  return run_tests_or_role(argc, argv,
                           {{"tell", tell},
                            {"exit_there", exit_there},
                            {"crash_there", crash_there},
                            {"stop_itself", stop_itself},
                            {"throw_something", throw_something},
                            {"run_a_rank_that_never_returns", run_a_rank_that_never_returns}});
}
