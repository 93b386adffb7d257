#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cohort {

/// One action of a training step and when it ran, in seconds of the monotonic clock of this host.
struct ActionRecord {
  std::int64_t step = 0;  ///< from 0
  std::string verb{};     ///< `forward`, `reduce`, …, as `cohort train --dry-run` prints them
  int lane = 0;           ///< actions of one lane run one after the other
  std::optional<int> stage{};
  std::optional<int> micro_batch{};
  std::optional<int> unit{};
  std::optional<int> bucket{};
  std::optional<int> peer{};
  double begin_seconds = 0;
  double end_seconds = 0;
};

/// One call of a communicator and when it ran, in seconds of the monotonic clock of this host.
struct CallRecord {
  std::string group{};      ///< the name of the communicator
  std::string operation{};  ///< `all_reduce`, …
  std::uint64_t bytes = 0;  ///< of this rank's input, or of its output where it has no input
  double begin_seconds = 0;
  double end_seconds = 0;
};

/// The newest actions and calls of a trainer, as far as they were kept (TrainerOptions::trace).
struct Trace {
  std::vector<ActionRecord> actions{};  ///< whole steps, each in the order of its program
  std::vector<CallRecord> calls{};
};

}  // namespace cohort
