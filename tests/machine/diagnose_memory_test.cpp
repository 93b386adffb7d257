#include "machine/diagnose.h"

#include "machine/healthy_machine.h"

#include <gtest/gtest.h>
#include <limits>

namespace cohort::machine {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(DiagnoseMemory, WhatFitsIsFine) {
  expect_finding(healthy_machine(), {}, "memory", Severity::kFine, "16 GiB usable");
  expect_finding(healthy_machine(), {.ranks = 4, .memory_per_rank_bytes = 4 * kGiB, .memory_headroom = 0},
                 "memory", Severity::kFine, "16 GiB needed, 16 GiB of 16 GiB usable");
}

TEST(DiagnoseMemory, TooLittleIsAProblem) {
  expect_finding(healthy_machine(), {.ranks = 5, .memory_per_rank_bytes = 4 * kGiB, .memory_headroom = 0},
                 "memory", Severity::kProblem, "5 ranks need 20 GiB, but may use 16 GiB of 16 GiB usable");
}

TEST(DiagnoseMemory, TheHeadroomStaysFree) {
  expect_finding(healthy_machine(), {.ranks = 4, .memory_per_rank_bytes = 4 * kGiB, .memory_headroom = 0.5},
                 "memory", Severity::kProblem, "4 ranks need 16 GiB, but may use 8 GiB of 16 GiB usable");
}

TEST(DiagnoseMemory, SharedMemoryCountsAsOrdinaryMemory) {
  expect_finding(healthy_machine(),
                 {.ranks = 4,
                  .memory_per_rank_bytes = 3 * kGiB,
                  .shared_memory_per_rank_bytes = 2 * kGiB,
                  .memory_headroom = 0},
                 "memory", Severity::kProblem, "4 ranks need 20 GiB, but may use 16 GiB of 16 GiB usable");
}

TEST(DiagnoseMemory, TheLimitOfTheContainerCounts) {
  Survey survey = healthy_machine();
  survey.memory.limit_bytes = std::optional<std::uint64_t>(2 * kGiB);
  EXPECT_EQ(finding(survey, {.memory_per_rank_bytes = 3 * kGiB}, "memory").severity, Severity::kProblem);
}

TEST(DiagnoseMemory, AbsurdWishesDoNotWrapAround) {
  const JobNeeds needs{.ranks = 2, .memory_per_rank_bytes = std::uint64_t{1} << 63};
  EXPECT_EQ(finding(healthy_machine(), needs, "memory").severity, Severity::kProblem);
  const JobNeeds sum{.memory_per_rank_bytes = std::numeric_limits<std::uint64_t>::max(),
                     .shared_memory_per_rank_bytes = 1};
  EXPECT_EQ(finding(healthy_machine(), sum, "memory").severity, Severity::kProblem);
}

TEST(DiagnoseSwap, InUseIsANote) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "swap", Severity::kFine, "not in use");
  survey.memory.swap_free_bytes = kGiB / 2;
  expect_finding(survey, {}, "swap", Severity::kNote,
                 "512 MiB in use: this machine has been short of memory");
  survey.memory.swap_total_bytes = std::uint64_t{0};
  survey.memory.swap_free_bytes = std::uint64_t{0};
  expect_finding(survey, {}, "swap", Severity::kFine, "none");
}

TEST(DiagnoseSharedMemory, WithoutMemfdIsAProblem) {
  Survey survey = healthy_machine();
  EXPECT_EQ(finding(survey, {}, "shared memory").severity, Severity::kFine);
  survey.shared_memory.memfd = Error(ErrorCode::kUnsupported, "memfd_create failed: not permitted");
  expect_finding(survey, {}, "shared memory", Severity::kProblem,
                 "ranks cannot share memory: memfd_create failed: not permitted");
}

TEST(DiagnoseDevShm, TinyIsOnlyANote) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "/dev/shm", Severity::kFine, "8 GiB free of 8 GiB");
  survey.shared_memory.dev_shm = Space{.total_bytes = std::uint64_t{64} << 20, .free_bytes = 1};
  expect_finding(survey, {}, "/dev/shm", Severity::kNote, "only 64 MiB; Cohort does not use it");
}

TEST(DiagnoseOvercommit, ModeTwoIsANote) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "overcommit", Severity::kFine, "mode 0");
  survey.shared_memory.overcommit = Overcommit::kAlways;
  expect_finding(survey, {}, "overcommit", Severity::kFine, "mode 1");
  survey.shared_memory.overcommit = Overcommit::kNever;
  expect_finding(survey, {}, "overcommit", Severity::kNote,
                 "mode 2: memory is refused although it is not in use yet");
}

TEST(DiagnoseHugePages, NeverIsANote) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "huge pages", Severity::kFine, "madvise");
  survey.shared_memory.huge_pages = std::string("never");
  expect_finding(survey, {}, "huge pages", Severity::kNote,
                 "switched off: large tensors cost more page faults");
}

}  // namespace
}  // namespace cohort::machine
