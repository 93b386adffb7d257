#pragma once

#include "machine/fact.h"

#include <cstdint>
#include <optional>

namespace cohort::machine {

/// One limit of this process; none: unlimited.
struct Limit {
  std::optional<std::uint64_t> soft;  ///< in force; the process itself may raise it up to `hard`
  std::optional<std::uint64_t> hard;
};

/// Limits of this process, inherited by the ranks it starts.
struct Limits {
  Fact<Limit> open_files;
  Fact<Limit> processes;  ///< of this user, threads included
  Fact<Limit> locked_memory_bytes;
  Fact<Limit> core_file_bytes;
};

Limits survey_limits();

}  // namespace cohort::machine
