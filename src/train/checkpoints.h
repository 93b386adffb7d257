#pragma once

#include "checkpoint/restore.h"
#include "checkpoint/saver.h"
#include "storage/local_file_system.h"
#include "train/replica.h"
#include <cohort/checkpoint_options.h>
#include <cohort/trainer.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace cohort::train {

/// The snapshots of one training: goes on from one, says when the next is due, and has it written.
///
/// Threads: one at a time; all ranks call resume(), open(), save() and finish() together.
/// Lifetime: group, replica and options must outlive it. After a failure the destructor ends the write that
/// is going on.
/// Failure: throws what the group reports, and what keeps training from going on from a snapshot. A snapshot
/// that cannot be written is reported to TrainerOptions::on_checkpoint, and training goes on.
/// Cost: as checkpoint::Saver; nothing if the options ask for no snapshots.
class Checkpoints {
 public:
  Checkpoints(Communicator& group, Replica& replica, const TrainerOptions& options);

  /// Fills replica and `course` from the snapshot that the options name. False if there is none to go on
  /// from. `course` must have the ledger and the settings of this training.
  bool resume(checkpoint::Course& course, std::optional<ResumeReport>& report);
  /// Makes the folder ready, after resume() and before the first step.
  void open();

  /// True if a snapshot is due after step `step`, as this rank sees it.
  bool is_due(std::int64_t step) const;
  /// Begins to write a snapshot.
  void save(const checkpoint::Course& course);
  /// Writes a last snapshot, unless there is one of this step, and waits for it.
  void finish(const checkpoint::Course& course);

  /// The step of the newest complete snapshot.
  std::optional<std::int64_t> saved_step() const { return saved_step_; }

 private:
  std::vector<Piece> pieces();
  Result<std::vector<Piece>> targets(const checkpoint::Course& saved, const checkpoint::Course& now);
  checkpoint::RestoreOrder order() const;
  void report();

  Communicator& group_;
  Replica& replica_;
  const TrainerOptions& options_;
  const std::string folder_;  // of the snapshots that are written
  LocalFileSystem files_{};
  std::unique_ptr<checkpoint::Saver> saver_;  // null: no snapshots are asked for
  std::vector<std::string> left_behind_;      // snapshots that this training does not follow
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now();
  std::optional<std::int64_t> saved_step_;
};

/// The folder of the snapshots of a training with these options; empty if they name none.
std::string checkpoint_folder(const TrainerOptions& options);

}  // namespace cohort::train
