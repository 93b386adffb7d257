#include "launch_roles.h"
#include "supervise/process.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

namespace cohort::test {
namespace {

namespace fs = std::filesystem;

// The folder of one test, removed with it.
class ProgramStart : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/launch-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = fs::canonical(name);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write_file(const std::string& name, const std::string& content, fs::perms perms) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << content;
    fs::permissions(path, perms);
    return path;
  }

  fs::path folder_;
};

constexpr fs::perms kPlain = fs::perms::owner_read | fs::perms::owner_write;
constexpr fs::perms kExecutable = fs::perms::owner_all;

Error refusal_of(ProcessOptions options) {
  auto process = Process::start(std::move(options));
  if (process) return Error(ErrorCode::kBug, "it was started");
  return process.error();
}

std::string output_of(ProcessOptions options) {
  Process process = value_or_throw(Process::start(std::move(options)));
  EXPECT_TRUE(value_or_throw(process.wait(soon())).is_success()) << process.error_output().text;
  return process.output().text;
}

TEST_F(ProgramStart, AMissingProgramIsNamed) {
  const Error unknown = refusal_of({.argv = {"no-such-program"}});
  EXPECT_EQ(unknown.code(), ErrorCode::kNotFound);
  EXPECT_EQ(unknown.text(),
            "cannot start 'no-such-program': the program does not exist. "
            "Check the spelling and PATH, or give the full path.");
  EXPECT_EQ(refusal_of({.argv = {"/no/such"}}).code(), ErrorCode::kNotFound);
  EXPECT_EQ(refusal_of({.argv = {"/dev/null/such"}}).code(), ErrorCode::kNotFound);
}

TEST_F(ProgramStart, WhatMayNotBeExecutedIsNamed) {
  const std::string path = write_file("plain", "#!/bin/sh\n", kPlain);
  const Error error = refusal_of({.argv = {path}});
  EXPECT_EQ(error.code(), ErrorCode::kPermission);
  EXPECT_EQ(error.remedy(), "Make it an executable file: chmod +x " + path);
  EXPECT_EQ(refusal_of({.argv = {folder_}}).code(), ErrorCode::kPermission);
  EXPECT_EQ(refusal_of({.argv = {"plain"}, .extra_environment = {{"PATH", folder_}}}).code(),
            ErrorCode::kPermission);
}

TEST_F(ProgramStart, WhatTheMachineCannotRunIsRefused) {
  const std::string garbage = write_file("garbage", "\x01\x02\x03", kExecutable);
  EXPECT_EQ(refusal_of({.argv = {garbage}}).code(), ErrorCode::kUnsupported);
  const std::string script = write_file("script", "#!/no/such/interpreter\n", kExecutable);
  EXPECT_EQ(refusal_of({.argv = {script}}).root().message(),
            "the interpreter that its first line names does not exist");
}

TEST_F(ProgramStart, NonsenseIsRefused) {
  EXPECT_EQ(refusal_of({}).code(), ErrorCode::kUsage);
  EXPECT_EQ(refusal_of({.argv = {""}}).code(), ErrorCode::kUsage);
  EXPECT_EQ(refusal_of({.argv = {"true", std::string("a\0b", 3)}}).code(), ErrorCode::kUsage);
  EXPECT_EQ(refusal_of({.argv = {"true"}, .extra_environment = {{"A=B", "1"}}}).code(), ErrorCode::kUsage);
  EXPECT_EQ(refusal_of({.argv = {"true"}, .output = OutputToDescriptor{99999}}).code(), ErrorCode::kUsage);
}

TEST_F(ProgramStart, ItsEnvironmentIsWhatWasGiven) {
  EXPECT_EQ(output_of({.argv = {"/usr/bin/env"},
                       .environment = {{{"A", "1"}, {"B", "2"}}},
                       .extra_environment = {{"B", "3"}, {"C", ""}}}),
            "A=1\nB=3\nC=\n");
  ASSERT_EQ(::setenv("COHORT_OURS", "yes", 1), 0);
  EXPECT_EQ(
      output_of({.argv = {"sh", "-c", "echo $COHORT_OURS $EXTRA"}, .extra_environment = {{"EXTRA", "x"}}}),
      "yes x\n");
}

TEST_F(ProgramStart, ItsPathIsSearchedInOrder) {
  write_file("tool", "#!/bin/sh\necho found\n", kExecutable);
  EXPECT_EQ(
      output_of({.argv = {"tool"}, .environment = {{{"PATH", "/no/such:" + folder_.string() + ":/bin"}}}}),
      "found\n");
  EXPECT_EQ(output_of({.argv = {"echo", "plain"}, .environment = {std::map<std::string, std::string>()}}),
            "plain\n");
}

TEST_F(ProgramStart, ItStartsInItsWorkingDirectory) {
  EXPECT_EQ(output_of({.argv = {"sh", "-c", "pwd -P"}, .working_directory = folder_}),
            folder_.string() + '\n');
  const Error error = refusal_of({.argv = {"true"}, .working_directory = folder_ / "missing"});
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_NE(error.text().find("missing"), std::string::npos);
}

TEST_F(ProgramStart, ItReadsNothingAndGetsNoDescriptorOfOurs) {
  EXPECT_EQ(output_of({.argv = {"cat"}}), "");
  const int leaky = ::fcntl(STDOUT_FILENO, F_DUPFD, 50);  // without close-on-exec on purpose
  ASSERT_GE(leaky, 50);
  const std::string look = fmt::format("test -e /proc/$$/fd/{} && echo leaked || echo closed", leaky);
  EXPECT_EQ(output_of({.argv = {"sh", "-c", look}}), "closed\n");
  ::close(leaky);
}

TEST_F(ProgramStart, ItHasDefaultSignalHandling) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const auto handler = ::signal(SIGPIPE, SIG_IGN);
  // The last eight digits are signals 1 to 32. The highest bit is a signal of the C library: it is ignored in
  // every child of posix_spawn, such as the children of make.
  const std::string masks = output_of({.argv = {"grep", "-oE", "Sig(Blk|Ign):.*", "/proc/self/status"}});
  EXPECT_EQ(masks.substr(0, masks.find('\n')), "SigBlk:\t0000000000000000");
  const std::string ignored = masks.substr(masks.find("SigIgn:\t") + 8, 16);
  EXPECT_EQ(std::stoull(ignored, nullptr, 16) & 0x7fffffffu, 0u) << masks;
  ::signal(SIGPIPE, handler);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(ProgramStart, CoreDumpsCanBeTurnedOff) {
  EXPECT_EQ(output_of({.argv = {"sh", "-c", "ulimit -c; ulimit -H -c"}, .core_dumps = false}), "0\n0\n");
}

}  // namespace
}  // namespace cohort::test
