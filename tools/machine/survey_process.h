#pragma once

#include "machine/sources.h"

#include <cstdint>
#include <optional>

namespace cohort::machine {

/// A resource limit of this process; empty members mean unlimited.
struct Limit {
  std::optional<std::uint64_t> soft;  ///< the limit in force; the process itself may raise it up to `hard`
  std::optional<std::uint64_t> hard;
};

/// Resource limits of this process; its ranks inherit them.
struct Limits {
  Fact<Limit> open_files;
  Fact<Limit> processes;  ///< processes and threads of this user
  Fact<Limit> locked_memory_bytes;
  Fact<Limit> core_file_bytes;
};

Limits survey_limits();

/// The variables of an environment that control threads and memory of numerical code: thread counts, wait
/// policy, and all that begin with KMP_ or MALLOC_.
Environment thread_settings(const Environment& environment);

}  // namespace cohort::machine
