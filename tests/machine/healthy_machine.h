#pragma once

#include "machine/diagnose.h"

#include <gtest/gtest.h>
#include <string>

namespace cohort::machine {

/// A machine without findings: 8 cores, 16 GiB, one network interface.
inline Survey healthy_machine() {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  Survey survey;
  survey.system = {.name = std::string("Debian"), .kernel_release = std::string("6.1.0")};
  survey.cores.online = 8;
  survey.cores.allowed = 8;
  survey.cores.quota = std::optional<double>();
  survey.cores.instruction_sets = std::vector<std::string>{"avx2", "fma"};
  survey.memory = {.total_bytes = 20 * kGiB,
                   .available_bytes = 16 * kGiB,
                   .swap_total_bytes = kGiB,
                   .swap_free_bytes = kGiB,
                   .limit_bytes = std::optional<std::uint64_t>()};
  survey.shared_memory = {.memfd = Works{},
                          .dev_shm = Space{.total_bytes = 8 * kGiB, .free_bytes = 8 * kGiB},
                          .overcommit = Overcommit::kGuess,
                          .huge_pages = std::string("madvise")};
  survey.limits.open_files = Limit{.soft = 1024, .hard = 4096};
  survey.limits.core_file_bytes = Limit{};
  survey.interfaces =
      std::vector<Interface>{{.name = "lo", .up = true, .loopback = true, .ipv4 = {"127.0.0.1"}},
                             {.name = "eth0", .up = true, .loopback = false, .ipv4 = {"10.0.0.2"}},
                             {.name = "eth1", .up = false, .loopback = false}};
  survey.thread_settings = {{"OMP_NUM_THREADS", "2"}, {"MKL_NUM_THREADS", "2"}};
  survey.libtorch = Libtorch{.version = "2.13.0",
                             .threads = 8,
                             .capability = "AVX2",
                             .folder = "/opt/libtorch/lib",
                             .matmul_ms = 3,
                             .load_ms = 400};
  survey.mpi = Mpi{.vendor = MpiVendor::kOpenMpi, .version = "4.1.4"};
  survey.disk = Space{.total_bytes = 100 * kGiB, .free_bytes = 50 * kGiB};
  return survey;
}

/// The finding about `topic`; there must be exactly one.
inline Finding finding(const Survey& survey, const JobNeeds& needs, const std::string& topic) {
  Finding result;
  int count = 0;
  for (const Finding& candidate : diagnose(survey, needs)) {
    if (candidate.topic != topic) continue;
    result = candidate;
    ++count;
  }
  EXPECT_EQ(count, 1) << topic;
  return result;
}

inline void expect_finding(const Survey& survey, const JobNeeds& needs, const std::string& topic,
                           Severity severity, const std::string& found) {
  const Finding result = finding(survey, needs, topic);
  EXPECT_EQ(name(result.severity), name(severity)) << topic;
  EXPECT_EQ(result.found, found);
  EXPECT_EQ(result.remedy.empty(), severity == Severity::kFine) << result.remedy;
}

}  // namespace cohort::machine
