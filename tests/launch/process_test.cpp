#include "supervise/process.h"

#include "base/descriptor.h"
#include "launch_roles.h"
#include "world/world.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

Process started(ProcessOptions options) {
  return value_or_throw(Process::start(std::move(options)));
}

Process shell(const std::string& script) {
  return started({.argv = {"sh", "-c", script}});
}

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Up to `count` bytes, fewer only at the end of the stream.
std::string read_bytes(const Descriptor& from, std::size_t count) {
  std::string text;
  while (text.size() < count) {
    pollfd source{from.number(), POLLIN, 0};
    if (::poll(&source, 1, 30'000) != 1) return text + " and then nothing";
    char letter = 0;
    if (::read(from.number(), &letter, 1) != 1) break;
    text += letter;
  }
  return text;
}

std::ptrdiff_t num_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

bool has_children() {
  return ::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD;
}

TEST(Process, ReportsTheExitCode) {
  for (const int code : {0, 1, 3, 255}) {
    Process process = shell("exit " + std::to_string(code));
    EXPECT_EQ(*process.wait(soon()), ExitStatus{.code = code});
    EXPECT_EQ(process.wait(soon())->text(), "exited with " + std::to_string(code)) << "a second time";
    EXPECT_EQ(**process.poll(), ExitStatus{.code = code});
  }
}

TEST(Process, ReportsTheSignal) {
  Process process = shell("kill -9 $$");
  EXPECT_EQ(*process.wait(soon()), ExitStatus{.signal = SIGKILL});
  EXPECT_EQ(process.wait(soon())->text(), "was killed by signal 9 (SIGKILL)");
  EXPECT_EQ((ExitStatus{.signal = SIGTERM}).text(), "was killed by signal 15 (SIGTERM)");
  EXPECT_EQ((ExitStatus{.signal = 50}).text(), "was killed by signal 50");
}

TEST(Process, CapturesAnyAmountOnBothStreamsAtOnce) {
  constexpr std::size_t kSizeBytes = 10 << 20;
  Process process = spawn_role("flood", {.args = {std::to_string(kSizeBytes)}});
  EXPECT_EQ(*process.wait(soon()), ExitStatus{.code = 0});
  EXPECT_TRUE(process.output().text == std::string(kSizeBytes, 'o'));
  EXPECT_TRUE(process.error_output().text == std::string(kSizeBytes, 'e'));
  EXPECT_EQ(process.output().dropped_bytes, 0u);
}

TEST(Process, KeepsTheHeadBelowTheCapAndCountsTheRest) {
  Process process = started({.argv = {"sh", "-c", "echo 0123456789; echo abc; echo no >&2"},
                             .output = CaptureOutput{.cap_bytes = 4},
                             .error_output = CaptureOutput{.cap_bytes = 0}});
  ASSERT_TRUE(process.wait(soon()));
  EXPECT_EQ(process.output().text, "0123");
  EXPECT_EQ(process.output().dropped_bytes, 11u);
  EXPECT_EQ(process.error_output().text, "");
  EXPECT_EQ(process.error_output().dropped_bytes, 3u);
}

TEST(Process, OutputIsThereBeforeItEnds) {
  Process process = spawn_role("ignore_sigterm");
  while (process.output().text != "ready\n") std::this_thread::yield();
  EXPECT_EQ(*process.poll(), std::nullopt);
}

TEST(Process, AGrandchildThatGoesOnWritingHoldsNothingUp) {
  Process process = shell("yes & echo done >&2");
  EXPECT_EQ(*process.wait(soon()), ExitStatus{.code = 0});
  EXPECT_EQ(process.error_output().text, "done\n");
}

TEST(Process, WritesToADescriptor) {
  Pipe pipe = make_pipe();
  Process process = started({.argv = {"sh", "-c", "echo out; echo err >&2"},
                             .output = OutputToDescriptor{pipe.writing.number()},
                             .error_output = OutputToDescriptor{pipe.writing.number()}});
  ASSERT_TRUE(process.wait(soon()));
  pipe.writing.close();
  EXPECT_EQ(read_bytes(pipe.reading, 100), "out\nerr\n");
  EXPECT_EQ(process.output().text, "");
}

TEST(Process, ADeadlineThatPassesLeavesItRunning) {
  Process process = started({.argv = {"sleep", "1000"}});
  const auto status = process.wait(std::chrono::steady_clock::now() + 10ms);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kTimedOut);
  EXPECT_EQ(status.error().text(),
            fmt::format("'sleep' (process {}) still runs at the deadline", process.pid()));
  EXPECT_EQ(*process.poll(), std::nullopt);
  EXPECT_TRUE(process.signal(SIGINT));
  EXPECT_EQ(process.wait(soon())->signal, SIGINT);
  EXPECT_EQ(process.signal(SIGINT).error().code(), ErrorCode::kNotFound);
}

TEST(Process, AStopEndsTheWait) {
  Process process = started({.argv = {"sleep", "1000"}});
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(process.wait(TimePoint::max(), stop.get_token()).error().code(), ErrorCode::kAborted);
}

TEST(Process, TerminateAsksFirst) {
  Process process = started({.argv = {"sleep", "1000"}});
  EXPECT_EQ(process.terminate(1h)->signal, SIGTERM);
  EXPECT_EQ(process.terminate(1h)->signal, SIGTERM) << "a second time";
}

TEST(Process, TerminateKillsWhatDoesNotListen) {
  const Pipe pipe = make_pipe();
  Process process = spawn_role("ignore_sigterm", {}, {.output = OutputToDescriptor{pipe.writing.number()}});
  EXPECT_EQ(read_bytes(pipe.reading, 6), "ready\n");
  EXPECT_EQ(process.terminate(20ms)->signal, SIGKILL);
}

TEST(Process, LeavesNoDescriptorAndNoZombie) {
  const auto before = num_descriptors();
  for (int i = 0; i < 200; ++i) {
    Process process = started({.argv = {i % 2 == 0 ? "true" : "sleep", "1000"}});
    if (i % 4 == 0) {
      EXPECT_TRUE(process.wait(soon()));
    }
    EXPECT_FALSE(Process::start({.argv = {"/no/such/program"}}));
  }
  EXPECT_EQ(num_descriptors(), before);
  EXPECT_FALSE(has_children());
}

TEST(Process, IsOneValueThatMoves) {
  Process first = started({.argv = {"sleep", "1000"}});
  Process second = shell("exit 4");
  const pid_t gone = first.pid();
  first = std::move(second);
  EXPECT_EQ(::kill(gone, 0), -1) << "what was assigned over is ended and reaped";
  EXPECT_EQ(first.wait(soon())->code, 4);
}

TEST(Process, DiesWithTheProcessThatStartedIt) {
  Pipe pipe = make_pipe();
  Process process = spawn_role("parent", {}, {.output = OutputToDescriptor{pipe.writing.number()}});
  pipe.writing.close();
  EXPECT_EQ(read_bytes(pipe.reading, 6), "ready\n");
  ASSERT_TRUE(process.signal(SIGKILL));
  EXPECT_EQ(process.wait(soon())->signal, SIGKILL);
  EXPECT_EQ(read_bytes(pipe.reading, 1), "") << "the pipe ends when the child of the killed one has gone too";
}

TEST(Process, LivesOnAfterTheThreadThatStartedIt) {
  std::optional<Process> process;
  std::jthread([&] { process = spawn_role("ignore_sigterm"); }).join();
  while (process->output().text != "ready\n") {
    ASSERT_EQ(*process->poll(), std::nullopt);
    std::this_thread::yield();
  }
  ASSERT_TRUE(process->signal(SIGINT));
  EXPECT_EQ(process->wait(soon())->signal, SIGINT);
}

TEST(Process, ManyThreadsMayStartProcesses) {
  const auto outcome = run_world(4, [](RankContext& rank) -> Status {
    for (int i = 0; i < 10; ++i) {
      const std::string word = fmt::format("{}-{}", rank.rank(), i);
      COHORT_ASSIGN_OR_RETURN(Process process, Process::start({.argv = {"echo", word}}));
      COHORT_ASSIGN_OR_RETURN(const ExitStatus status, process.wait(rank.deadline(), rank.stop_token()));
      if (!status.is_success() || process.output().text != word + '\n') return rank.failure("echo {}", word);
    }
    return {};
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
