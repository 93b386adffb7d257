#pragma once

#include "train/replica.h"
#include "train/snapshots.h"
#include <cohort/trainer.h>

#include <optional>
#include <string>
#include <vector>

namespace cohort::train {

/// The snapshots of one fit() of a trainer.
///
/// Threads: one at a time; all ranks call resume(), open(), save() and finish() together.
/// Lifetime: group, replica and options must outlive it.
/// Failure: as Snapshots; a snapshot that cannot be written is reported to TrainerOptions::on_checkpoint.
/// Cost: as Snapshots; nothing if the options ask for no snapshots.
class Checkpoints {
 public:
  Checkpoints(Communicator& group, Replica& replica, const TrainerOptions& options);

  /// Fills replica and `course` from the snapshot that the options name; nothing if there is none to go on
  /// from. `course` must have the ledger and the settings of this training.
  std::optional<ResumeReport> resume(checkpoint::Course& course);
  /// True if training goes on from a snapshot of its own folder, and not from one of another training.
  bool goes_on() const { return snapshots_.goes_on(); }
  /// Makes the folder ready, after resume() and before the first step.
  void open();

  /// True if a snapshot is due after step `step`, as this rank sees it.
  bool is_due(std::int64_t step) const;
  void save(const checkpoint::Course& course);
  /// Writes a last snapshot, unless there is one of this step, and waits for it.
  void finish(const checkpoint::Course& course);
  std::optional<std::int64_t> saved_step() const { return snapshots_.saved_step(); }
  /// Reports the snapshots whose write has ended; not a call of all ranks.
  void report();

 private:
  std::vector<Piece> pieces();
  Result<std::vector<Piece>> targets(const checkpoint::Course& saved, const checkpoint::Course& now);

  Replica& replica_;
  const TrainerOptions& options_;
  Snapshots snapshots_;
};

/// The folder of the snapshots of a training with these options; empty if they name none.
std::string checkpoint_folder(const TrainerOptions& options);

}  // namespace cohort::train
