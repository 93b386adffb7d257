#include "machine/diagnose.h"

#include "base/check.h"
#include "machine/checks.h"

#include <algorithm>

namespace cohort::machine {
namespace {

constexpr std::string_view kSeverityNames[] = {"fine", "note", "warning", "problem"};

using Rule = void (*)(const Survey&, const JobNeeds&, Findings&);

// The order of the findings.
constexpr Rule kRules[] = {judge_system,     judge_cores,         judge_quota,      judge_instruction_sets,
                           judge_bf16,       judge_thread_counts, judge_waiting,    judge_memory,
                           judge_swap,       judge_memfd,         judge_dev_shm,    judge_overcommit,
                           judge_huge_pages, judge_open_files,    judge_core_files, judge_network,
                           judge_interfaces, judge_libtorch,      judge_mpi,        judge_disk};

Error refused(std::string message, std::string remedy) {
  return Error(ErrorCode::kUsage, std::move(message)).with_remedy(std::move(remedy));
}

}  // namespace

std::string_view name(Severity severity) {
  return kSeverityNames[static_cast<std::size_t>(severity)];
}

Status validate(const JobNeeds& needs) {
  if (needs.ranks < 1) {
    return refused(fmt::format("the number of ranks is {}, expected 1 or more", needs.ranks),
                   "Give 1 rank or more.");
  }
  if (needs.threads_per_rank && *needs.threads_per_rank < 1) {
    return refused(
        fmt::format("the number of threads per rank is {}, expected 1 or more", *needs.threads_per_rank),
        "Give 1 thread or more, or no number: Cohort then divides the cores.");
  }
  if (!(needs.memory_headroom >= 0.0 && needs.memory_headroom <= 0.9)) {
    return refused(
        fmt::format("the fraction of memory to leave free is {}, expected 0 to 0.9", needs.memory_headroom),
        "Give a fraction from 0 to 0.9.");
  }
  if (needs.open_files_per_rank < 0) {
    return refused(
        fmt::format("the number of open files per rank is {}, expected 0 or more", needs.open_files_per_rank),
        "Give 0 or more.");
  }
  return {};
}

std::vector<Finding> diagnose(const Survey& survey, const JobNeeds& needs) {
  const Status valid = validate(needs);
  COHORT_CHECK(valid.has_value(), "the caller did not validate the needs of the job");
  Findings findings;
  for (const Rule rule : kRules) rule(survey, needs, findings);
  return std::move(findings).take();
}

Severity worst(const std::vector<Finding>& findings) {
  Severity gravest = Severity::kFine;
  for (const Finding& finding : findings) gravest = std::max(gravest, finding.severity);
  return gravest;
}

}  // namespace cohort::machine
