#include "machine/diagnose.h"

#include "machine/healthy_machine.h"

#include <gtest/gtest.h>

namespace cohort::machine {
namespace {

TEST(DiagnoseCores, AsManyThreadsAsCoresAreFine) {
  expect_finding(healthy_machine(), {.ranks = 4, .threads_per_rank = 2}, "cores", Severity::kFine,
                 "8 usable cores for 4 ranks × 2 threads");
  expect_finding(healthy_machine(), {.ranks = 3}, "cores", Severity::kFine,
                 "8 usable cores for 3 ranks × 2 threads");
}

TEST(DiagnoseCores, OneThreadMoreIsAWarningWithTheNumbers) {
  const JobNeeds needs{.ranks = 3, .threads_per_rank = 3};
  expect_finding(healthy_machine(), needs, "cores", Severity::kWarning,
                 "3 ranks × 3 threads = 9 on 8 usable cores: 6 to 15 times slower");
  const std::string remedy = finding(healthy_machine(), needs, "cores").remedy;
  EXPECT_NE(remedy.find("at most 8"), std::string::npos) << remedy;
  EXPECT_NE(remedy.find("OMP_WAIT_POLICY=PASSIVE"), std::string::npos) << remedy;
}

TEST(DiagnoseCores, MoreRanksThanCoresAreAWarningWhateverTheThreads) {
  expect_finding(healthy_machine(), {.ranks = 9}, "cores", Severity::kWarning,
                 "9 ranks × 1 thread = 9 on 8 usable cores: 6 to 15 times slower");
  const JobNeeds absurd{.ranks = 2'000'000'000, .threads_per_rank = 2'000'000'000};
  EXPECT_EQ(finding(healthy_machine(), absurd, "cores").severity, Severity::kWarning);
}

TEST(DiagnoseCores, TheQuotaCountsForTheLoad) {
  Survey survey = healthy_machine();
  survey.cores.quota = std::optional(1.5);
  expect_finding(survey, {.ranks = 2}, "cores", Severity::kWarning,
                 "2 ranks × 1 thread = 2 on 1 usable core: 6 to 15 times slower");
}

TEST(DiagnoseCores, NoneIsAProblem) {
  Survey survey = healthy_machine();
  survey.cores.allowed = 0;
  expect_finding(survey, {}, "cores", Severity::kProblem, "no core may be used");
}

TEST(DiagnoseCores, UnknownOnesAreANote) {
  Survey survey = healthy_machine();
  survey.cores = {};
  expect_finding(survey, {.ranks = 100}, "cores", Severity::kNote, "not known: not read");
}

TEST(DiagnoseQuota, BelowTheCoresIsANote) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "cpu quota", Severity::kFine, "none");
  survey.cores.quota = std::optional(8.0);
  expect_finding(survey, {}, "cpu quota", Severity::kFine, "8 cores");
  survey.cores.quota = std::optional(2.5);
  expect_finding(survey, {}, "cpu quota", Severity::kNote, "2.5 cores, but programs see 8");
  EXPECT_NE(finding(survey, {}, "cpu quota").remedy.find("counts on 2 cores"), std::string::npos);
}

TEST(DiagnoseInstructionSets, WithoutAvx2AreAWarning) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "instruction sets", Severity::kFine, "avx2 fma");
  survey.cores.instruction_sets = std::vector<std::string>{"fma"};
  expect_finding(survey, {}, "instruction sets", Severity::kWarning,
                 "no AVX2: libtorch falls back to its slow kernels");
}

TEST(DiagnoseBf16, WithoutInstructionsAutoIsF32) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "bf16", Severity::kFine, "no instructions for it, and the job computes in f32");
  expect_finding(survey, {.compute = ComputeType::kAuto}, "bf16", Severity::kNote,
                 "no instructions for it: precision.compute = \"auto\" is f32 here");
  expect_finding(survey, {.compute = ComputeType::kBF16}, "bf16", Severity::kWarning,
                 "no instructions for it: precision.compute = \"bf16\" is slower than f32");
  survey.cores.instruction_sets = std::vector<std::string>{"avx2", "avx512_bf16"};
  expect_finding(survey, {.compute = ComputeType::kBF16}, "bf16", Severity::kFine,
                 "computed fast, by AVX512_BF16");
  survey.cores.instruction_sets = std::vector<std::string>{"avx2", "avx512_bf16", "amx_bf16"};
  expect_finding(survey, {}, "bf16", Severity::kFine, "computed fast, by AMX");
}

TEST(DiagnoseThreadCounts, OnlyASensibleNumberIsFine) {
  Survey survey = healthy_machine();
  for (const char* text : {"abc", "-1", "0", "99999999999999999999999"}) {
    survey.thread_settings = {{"OMP_NUM_THREADS", text}};
    EXPECT_EQ(finding(survey, {}, "thread counts").severity, Severity::kWarning) << text;
  }
  survey.thread_settings = {{"OMP_NUM_THREADS", "2,1"}};
  EXPECT_EQ(finding(survey, {.threads_per_rank = 2}, "thread counts").severity, Severity::kFine);
  survey.thread_settings = {{"OMP_NUM_THREADS", "64"}};
  expect_finding(survey, {.threads_per_rank = 2}, "thread counts", Severity::kWarning,
                 "OMP_NUM_THREADS=64 is more than the 2 of a rank");
}

TEST(DiagnoseThreadCounts, UnsetIsANoteThatSaysWhatToSet) {
  Survey survey = healthy_machine();
  expect_finding(survey, {}, "thread counts", Severity::kFine, "OMP_NUM_THREADS=2");
  survey.thread_settings = {};
  expect_finding(survey, {}, "thread counts", Severity::kNote,
                 "OMP_NUM_THREADS is not set: a program started by hand takes every core");
  const std::string remedy = finding(survey, {.ranks = 2}, "thread counts").remedy;
  EXPECT_NE(remedy.find("to 4 for each rank"), std::string::npos) << remedy;
}

TEST(DiagnoseThreadCounts, ContradictionIsAWarning) {
  Survey survey = healthy_machine();
  survey.thread_settings["MKL_NUM_THREADS"] = "4";
  expect_finding(survey, {}, "thread counts", Severity::kWarning,
                 "OMP_NUM_THREADS=2 but MKL_NUM_THREADS=4: the latter wins");
}

TEST(DiagnoseWaiting, SpinningIsAWarningOnlyWithTooManyThreads) {
  Survey survey = healthy_machine();
  expect_finding(survey, {.ranks = 8}, "waiting threads", Severity::kFine,
                 "spin, which is fastest while every thread has a core");
  expect_finding(survey, {.ranks = 9}, "waiting threads", Severity::kWarning,
                 "spin, and keep cores from threads that have work");
  survey.thread_settings["OMP_WAIT_POLICY"] = "PASSIVE";
  expect_finding(survey, {.ranks = 9}, "waiting threads", Severity::kFine, "release their core");
  survey.thread_settings["OMP_WAIT_POLICY"] = "ACTIVE";
  EXPECT_EQ(finding(survey, {.ranks = 9}, "waiting threads").severity, Severity::kWarning);
  survey.thread_settings["GOMP_SPINCOUNT"] = "0";
  EXPECT_EQ(finding(survey, {.ranks = 9}, "waiting threads").severity, Severity::kFine);
}

}  // namespace
}  // namespace cohort::machine
