#include "machine/diagnose.h"

#include "base/check.h"
#include "machine/rules.h"

#include <algorithm>

namespace cohort::machine {
namespace {

constexpr std::string_view kSeverityNames[] = {"fine", "note", "warning", "problem"};

using Rule = void (*)(const Survey&, const Wishes&, Findings&);

// In the order of the findings.
constexpr Rule kRules[] = {judge_system,        judge_cores,      judge_quota,      judge_instruction_sets,
                           judge_thread_counts, judge_waiting,    judge_memory,     judge_swap,
                           judge_memfd,         judge_dev_shm,    judge_overcommit, judge_huge_pages,
                           judge_open_files,    judge_core_files, judge_network,    judge_interfaces,
                           judge_libtorch,      judge_mpi,        judge_disk};

Error refused(std::string message, std::string remedy) {
  return Error(ErrorCode::kUsage, std::move(message)).with_remedy(std::move(remedy));
}

}  // namespace

std::string_view name(Severity severity) {
  return kSeverityNames[static_cast<std::size_t>(severity)];
}

Status validate(const Wishes& wishes) {
  if (wishes.ranks < 1) {
    return refused(fmt::format("a job cannot have {} ranks", wishes.ranks), "Ask for 1 rank or more.");
  }
  if (wishes.threads_per_rank && *wishes.threads_per_rank < 1) {
    return refused(fmt::format("a rank cannot have {} threads", *wishes.threads_per_rank),
                   "Ask for 1 thread or more, or leave it to Cohort.");
  }
  if (!(wishes.memory_headroom >= 0.0 && wishes.memory_headroom <= 0.9)) {
    return refused(fmt::format("{} of the memory cannot be left free", wishes.memory_headroom),
                   "Give a fraction from 0 to 0.9.");
  }
  if (wishes.open_files_per_rank < 0) {
    return refused(fmt::format("a rank cannot have {} open files", wishes.open_files_per_rank),
                   "Give 0 or more.");
  }
  return {};
}

std::vector<Finding> diagnose(const Survey& survey, const Wishes& wishes) {
  const Status valid = validate(wishes);
  COHORT_CHECK(valid.has_value(), "the caller has not validated the wishes");
  Findings findings;
  for (const Rule rule : kRules) rule(survey, wishes, findings);
  return std::move(findings).take();
}

Severity worst(const std::vector<Finding>& findings) {
  Severity gravest = Severity::kFine;
  for (const Finding& finding : findings) gravest = std::max(gravest, finding.severity);
  return gravest;
}

}  // namespace cohort::machine
