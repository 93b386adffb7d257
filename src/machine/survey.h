#pragma once

#include "machine/survey_cores.h"
#include "machine/survey_libtorch.h"
#include "machine/survey_limits.h"
#include "machine/survey_memory.h"
#include "machine/survey_mpi.h"
#include "machine/survey_network.h"
#include "machine/survey_shared_memory.h"
#include "machine/survey_system.h"
#include "machine/survey_threads.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cohort::machine {

/// Plain facts about this machine, as this process sees it. What could not be found out holds the reason.
struct Survey {
  System system;
  Cores cores;
  Memory memory;
  SharedMemory shared_memory;
  Limits limits;
  Fact<std::vector<Interface>> interfaces;
  Environment thread_settings;
  std::optional<Fact<Libtorch>> libtorch;  ///< none: nobody asked for it
  Fact<Mpi> mpi;
  Fact<Space> disk;
};

struct SurveyOptions {
  std::optional<std::string> probe;  ///< path of the program that tries libtorch; none: it is not tried
  std::string directory = ".";       ///< where the job will write
  std::chrono::nanoseconds program_limit = std::chrono::seconds(30);  ///< for each program that is run
};

/// Looks at everything.
///
/// Failure: none; a failed reading leaves its reason in its place.
/// Cost: some dozen small files and two programs, of which the probe of libtorch takes seconds.
Survey survey_machine(const Sources& sources, const SurveyOptions& options);

}  // namespace cohort::machine
