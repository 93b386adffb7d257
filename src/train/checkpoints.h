#pragma once

#include "train/replica.h"
#include "train/snapshots.h"
#include "train/training_copies.h"
#include <cohort/trainer.h>

#include <optional>
#include <string>
#include <vector>

namespace cohort::train {

/// The snapshots of one fit() of a trainer, and the copies of its state in memory.
///
/// Threads: one at a time; all ranks call resume(), open(), copy(), save() and finish() together.
/// Lifetime: group, replica and options must outlive it.
/// Failure: as Snapshots; a snapshot that cannot be written is reported to TrainerOptions::on_checkpoint.
/// Cost: as Snapshots; nothing if the options ask for no snapshots and no copies.
class Checkpoints {
 public:
  Checkpoints(Communicator& group, Replica& replica, const TrainerOptions& options);

  /// Makes the Checkpoints of a fit() in `place`, and destroys them with itself: another training may use the
  /// folder then.
  class Turn {
   public:
    Turn(std::optional<Checkpoints>& place, Communicator& group, Replica& replica,
         const TrainerOptions& options)
        : place_(place) {
      place_.emplace(group, replica, options);
    }
    ~Turn() { place_.reset(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::optional<Checkpoints>& place_;
  };

  /// Fills replica and `course` from the copies in memory, else from the snapshot that the options name;
  /// nothing if there is neither. `course` must have the ledger and the settings of this training.
  std::optional<ResumeReport> resume(checkpoint::Course& course);
  /// True if training goes on from a snapshot of its own folder, and not from one of another training.
  bool goes_on() const { return snapshots_.goes_on(); }
  /// Makes the folder ready, after resume() and before the first step.
  void open();

  /// True if a snapshot is due after step `step`, as this rank sees it.
  bool is_due(std::int64_t step) const;
  void save(const checkpoint::Course& course);
  /// Keeps copies in memory, if they are due after the last step of the course.
  void copy(const checkpoint::Course& course);
  /// Writes a last snapshot, unless there is one of this step, and waits for it.
  void finish(const checkpoint::Course& course);
  std::optional<std::int64_t> saved_step() const { return snapshots_.saved_step(); }
  /// Reports the snapshots whose write has ended; not a call of all ranks.
  void report();
  TrainingCopies& copies() { return copies_; }

 private:
  std::vector<Piece> pieces();
  checkpoint::Course completed(const checkpoint::Course& course) const;
  Result<std::vector<Piece>> targets(const checkpoint::Course& saved, const checkpoint::Course& now);

  Replica& replica_;
  const TrainerOptions& options_;
  Snapshots snapshots_;
  TrainingCopies copies_;
};

/// The folder of the snapshots of a training with these options; empty if they name none.
std::string checkpoint_folder(const TrainerOptions& options);

}  // namespace cohort::train
