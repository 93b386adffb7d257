#pragma once

#include "machine/diagnose.h"
#include "machine/findings.h"

/// The checks of a diagnosis: each looks at one topic and reports one finding about it.

namespace cohort::machine {

/// The number of threads of the job beside the number of cores.
struct Load {
  int threads_per_rank = 1;
  std::int64_t threads = 1;  ///< over all ranks
  std::optional<int> cores;  ///< usable cores; empty: not known

  bool is_too_much() const { return cores && threads > *cores; }
};
Load load_of(const Survey& survey, const JobNeeds& needs);

void judge_system(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_cores(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_quota(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_instruction_sets(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_bf16(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_thread_counts(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_waiting(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_memory(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_swap(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_memfd(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_dev_shm(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_overcommit(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_huge_pages(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_open_files(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_core_files(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_network(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_interfaces(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_libtorch(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_mpi(const Survey& survey, const JobNeeds& needs, Findings& findings);
void judge_disk(const Survey& survey, const JobNeeds& needs, Findings& findings);

}  // namespace cohort::machine
