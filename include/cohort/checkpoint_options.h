#pragma once

#include <cohort/error.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cohort {

/// When the state of a training is written to disk, and which of these snapshots are kept. A snapshot is
/// whole or absent, and any number of ranks can go on from it.
struct CheckpointOptions {
  /// The folder of the snapshots; all hosts must share it. Empty: `checkpoints` in TrainerOptions::directory.
  std::string directory{};
  std::optional<std::int64_t> every_steps{};
  std::optional<std::chrono::nanoseconds> every_time{};
  int keep_last = 3;  ///< the newest snapshots
  /// Those with the lowest loss, among a Trainer's snapshots at the end of an epoch that was evaluated.
  int keep_best = 1;
  std::optional<std::int64_t> keep_every{};  ///< those whose step is a multiple of this number
  /// Training waits only for a copy in memory; the copy is written while training goes on.
  bool background = true;
  bool compress = false;  ///< with zstd, tensors that become smaller by it
  /// Every how many-th snapshot is a full one; the others hold what has changed since then.
  int full_every = 1;
  std::string config{};  ///< a text that is kept with the snapshot, such as the job file
};

/// The result of writing a snapshot; on every rank.
struct CheckpointReport {
  std::int64_t step = 0;
  /// Not set: the snapshot is complete, and survives a power cut.
  std::optional<Error> failure{};
  bool is_skipped = false;  ///< the one before was still being written
  std::uint64_t size_bytes = 0;
  double stall_seconds = 0;  ///< for which training waited
  double write_seconds = 0;
  std::vector<std::string> removed{};  ///< snapshots that were no longer to be kept
  std::optional<Error> removal_failure{};
};

/// The state from which training goes on: a snapshot, or copies in memory.
struct ResumeReport {
  std::string snapshot{};  ///< its path; empty if the state comes from TrainerOptions::copies
  std::int64_t step = 0;
  std::int64_t epoch = 0;            ///< epochs that were over
  std::vector<Error> passed_over{};  ///< why copies, and newer snapshots, were not taken
};

}  // namespace cohort
