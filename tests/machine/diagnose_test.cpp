#include "machine/diagnose.h"

#include "machine/healthy_machine.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace cohort::machine {
namespace {

std::ptrdiff_t characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

TEST(Diagnose, AHealthyMachineIsFineInEveryTopicInAFixedOrder) {
  std::vector<std::string> topics;
  for (const Finding& finding : diagnose(healthy_machine(), {.interfaces = {"eth0"}})) {
    topics.push_back(finding.topic);
    EXPECT_EQ(finding.severity, Severity::kFine) << finding.topic << ": " << finding.found;
    EXPECT_EQ(finding.remedy, "");
  }
  EXPECT_EQ(
      topics,
      (std::vector<std::string>{
          "system",          "cores",      "cpu quota",  "instruction sets", "bf16",      "thread counts",
          "waiting threads", "memory",     "swap",       "shared memory",    "/dev/shm",  "overcommit",
          "huge pages",      "open files", "core files", "network",          "interface", "libtorch",
          "libtorch folder", "MPI",        "disk"}));
}

TEST(Diagnose, WhatIsNotKnownIsSaidAndEveryTextFitsItsCell) {
  Survey blind;
  blind.libtorch = Error(ErrorCode::kUnsupported, std::string(500, 'x') + "\nand more");
  const auto findings = diagnose(blind, {.ranks = 1'000'000, .interfaces = {"eth0", std::string(200, 'e')}});
  EXPECT_EQ(findings.size(), 21u);
  for (const Finding& finding : findings) {
    EXPECT_LE(characters(finding.found), 90) << finding.found;
    EXPECT_EQ(finding.found.find('\n'), std::string::npos);
    const bool judged = finding.topic == "waiting threads";  // by the environment alone
    EXPECT_EQ(finding.severity == Severity::kFine, judged) << finding.topic;
  }
}

TEST(Diagnose, TheWorstFindingCounts) {
  EXPECT_EQ(worst({}), Severity::kFine);
  EXPECT_EQ(worst({{.severity = Severity::kNote}, {.severity = Severity::kWarning}, {}}), Severity::kWarning);
  EXPECT_EQ(name(Severity::kProblem), "problem");
}

TEST(JobNeeds, OutsideTheirRangeAreTheUsersMistake) {
  EXPECT_TRUE(validate({}));
  EXPECT_TRUE(validate({.memory_headroom = 0.9}));
  for (const JobNeeds& needs :
       {JobNeeds{.ranks = 0}, JobNeeds{.threads_per_rank = 0}, JobNeeds{.memory_headroom = -0.1},
        JobNeeds{.memory_headroom = 0.91}, JobNeeds{.memory_headroom = 0.0 / 0.0},
        JobNeeds{.open_files_per_rank = -1}}) {
    const Status status = validate(needs);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kUsage);
    EXPECT_NE(status.error().remedy(), "");
    EXPECT_THROW(diagnose(healthy_machine(), needs), BugError);
  }
}

TEST(DiagnoseOpenFiles, TheSoftLimitIsAWarningTheHardOneAProblem) {
  const Survey survey = healthy_machine();
  expect_finding(survey, {.ranks = 16, .open_files_per_rank = 64}, "open files", Severity::kFine,
                 "1024 allowed, 1024 needed");
  const JobNeeds more{.ranks = 17, .open_files_per_rank = 64};
  expect_finding(survey, more, "open files", Severity::kWarning,
                 "17 ranks × 64 = 1088 needed, but the limit is 1024 (it may be raised to 4096)");
  EXPECT_NE(finding(survey, more, "open files").remedy.find("ulimit -n 1088"), std::string::npos);
  expect_finding(survey, {.ranks = 65, .open_files_per_rank = 64}, "open files", Severity::kProblem,
                 "65 ranks × 64 = 4160 needed, but at most 4096 are allowed");
}

TEST(DiagnoseOpenFiles, UnlimitedIsEnough) {
  Survey survey = healthy_machine();
  survey.limits.open_files = Limit{};
  EXPECT_EQ(finding(survey, {.ranks = 1'000'000}, "open files").severity, Severity::kFine);
}

TEST(DiagnoseCoreFiles, SwitchedOffAreANote) {
  Survey survey = healthy_machine();
  survey.limits.core_file_bytes = Limit{.soft = 0, .hard = {}};
  expect_finding(survey, {}, "core files", Severity::kNote, "a crash leaves no core file");
}

TEST(DiagnoseNetwork, LoopbackAloneIsANote) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "network", Severity::kFine, "eth0 10.0.0.2");
  survey.interfaces->at(1).ipv4.clear();
  expect_finding(survey, {}, "network", Severity::kNote,
                 "only the loopback interface: jobs on this host alone");
  survey.interfaces->at(1).ipv6 = {"2001:db8::1"};
  expect_finding(survey, {}, "network", Severity::kFine, "eth0 2001:db8::1");
  survey.interfaces->at(1).up = false;
  EXPECT_EQ(finding(survey, {}, "network").severity, Severity::kNote);
}

TEST(DiagnoseInterface, MissingOrDownIsAProblemThatListsWhatExists) {
  const Survey survey = healthy_machine();
  expect_finding(survey, {.interfaces = {"eth0"}}, "interface", Severity::kFine, "'eth0' is up 10.0.0.2");
  expect_finding(survey, {.interfaces = {"ib0"}}, "interface", Severity::kProblem,
                 "'ib0' does not exist; the interfaces are: lo, eth0, eth1 (down)");
  expect_finding(survey, {.interfaces = {"eth1"}}, "interface", Severity::kProblem,
                 "'eth1' is down; the interfaces are: lo, eth0, eth1 (down)");
}

TEST(DiagnoseLibtorch, MissingIsAProblemWithItsReason) {
  Survey survey = healthy_machine();
  survey.libtorch = Error(ErrorCode::kUnsupported, "the probe was ended by signal 4");
  expect_finding(survey, {}, "libtorch", Severity::kProblem,
                 "cannot be used: the probe was ended by signal 4");
  const std::string reason(300, 'r');
  survey.libtorch = Error(ErrorCode::kUnsupported, reason);
  EXPECT_NE(finding(survey, {}, "libtorch").remedy.find(reason), std::string::npos);
}

TEST(DiagnoseLibtorch, TheAdviceFitsTheReason) {
  Survey survey = healthy_machine();
  survey.libtorch = Error(ErrorCode::kTimedOut, "did not end");
  EXPECT_NE(finding(survey, {}, "libtorch").remedy.find("Raise doctor.probe_limit"), std::string::npos);
  survey.libtorch = Error(ErrorCode::kNotFound, "no such program");
  EXPECT_NE(finding(survey, {}, "libtorch").remedy.find("belongs beside cohort"), std::string::npos);
}

TEST(DiagnoseLibtorch, NotTriedIsWorthANote) {
  Survey survey = healthy_machine();
  survey.libtorch = std::nullopt;
  expect_finding(survey, {}, "libtorch", Severity::kNote, "not tested");
}

TEST(DiagnoseLibtorch, TooOldIsAProblem) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "libtorch", Severity::kFine, "2.13.0, AVX2 kernels, loads in 400 ms");
  expect_finding(survey, {}, "libtorch folder", Severity::kFine, "/opt/libtorch/lib");
  for (const char* version : {"2.12.9", "1.99.0", "2.9.0+cpu", "unknown"}) {
    (*survey.libtorch)->version = version;
    EXPECT_EQ(finding(survey, {}, "libtorch").severity, Severity::kProblem) << version;
  }
  for (const char* version : {"2.13.1+cpu", "2.14.0", "3.0.0"}) {
    (*survey.libtorch)->version = version;
    EXPECT_EQ(finding(survey, {}, "libtorch").severity, Severity::kFine) << version;
  }
}

TEST(DiagnoseMpi, AbsentIsANote) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "MPI", Severity::kFine, "Open MPI 4.1.4");
  survey.mpi = Error(ErrorCode::kNotFound, "there is no program 'mpirun'");
  expect_finding(survey, {}, "MPI", Severity::kNote,
                 "not installed; only programs started with mpirun need it");
  survey.mpi = Error(ErrorCode::kTimedOut, "mpirun did not end");
  expect_finding(survey, {}, "MPI", Severity::kNote, "not known: mpirun did not end");
}

TEST(DiagnoseDisk, LessThanAGibibyteIsAWarning) {
  Survey survey = healthy_machine();
  survey.disk->free_bytes = std::uint64_t{1} << 30;
  expect_finding(survey, {}, "disk", Severity::kFine, "1 GiB free");
  survey.disk->free_bytes = std::uint64_t{512} << 20;
  expect_finding(survey, {}, "disk", Severity::kWarning, "512 MiB free: snapshots may not fit");
}

}  // namespace
}  // namespace cohort::machine
