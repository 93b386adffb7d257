#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "comm/shared_memory/arena.h"

#include <string>
#include <vector>

namespace cohort::comm {

/// Another member of this host: its arena, and the line by which its end is noticed.
struct Neighbour {
  Mapping arena;
  Descriptor line;  ///< a socket that lives as long as it does; carries aborts
  pid_t process = 0;

  ArenaHeader& header() const { return *reinterpret_cast<ArenaHeader*>(arena.data()); }
};

struct MeetingOptions {
  std::string name{};  ///< the same for all ranks of the job, and for nobody else
  int rank = 0;
  int world = 1;
  std::uint32_t generation = 0;
  TimePoint deadline{};
};

/// Meets every other rank at the kernel's own names `<name>.<generation>.<rank>` and exchanges arenas.
/// Connections of other users, and those that do not speak our tongue, are closed and forgotten.
///
/// Returns one entry per rank; our own is empty.
/// Failure: kTimedOut names the ranks that have not come.
Result<std::vector<std::optional<Neighbour>>> meet(const MeetingOptions& options, Arena& arena);

}  // namespace cohort::comm
