#pragma once

#include "machine/survey_cores.h"
#include "machine/survey_libtorch.h"
#include "machine/survey_parts.h"
#include "machine/survey_shared_memory.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cohort::machine {

/// Facts about this machine, as this process sees it. A fact that could not be read holds the reason.
struct Survey {
  System system;
  Cores cores;
  Memory memory;
  SharedMemory shared_memory;
  Limits limits;
  Fact<std::vector<Interface>> interfaces;
  Environment thread_settings;
  std::optional<Fact<Libtorch>> libtorch;  ///< empty: not asked for
  Fact<Mpi> mpi;
  Fact<Space> disk;
};

struct SurveyOptions {
  std::optional<std::string> probe;  ///< path of cohort-libtorch-probe; empty: libtorch is not tried
  std::string directory = ".";       ///< the directory that the job will write to
  std::chrono::nanoseconds program_limit =
      std::chrono::seconds(30);  ///< for each program that the survey runs
};

/// Reads all facts.
///
/// Failure: none; a failed reading is stored in its fact.
/// Cost: some dozen small files and two programs; the libtorch probe takes seconds.
Survey survey_machine(const Sources& sources, const SurveyOptions& options);

}  // namespace cohort::machine
