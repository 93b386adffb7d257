#pragma once

#include "checkpoint/restore.h"
#include "checkpoint/saver.h"
#include "storage/folder_lock.h"
#include "storage/local_file_system.h"
#include <cohort/checkpoint_options.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort::train {

/// Failure: throws UsageError for numbers that make no sense.
void check_checkpoint_options(const CheckpointOptions& options);

/// The snapshots of one training in a folder: goes on from one, says when the next is due, and has it
/// written.
///
/// Threads: one at a time; all ranks call resume(), go_on_after(), open(), save() and wait() together.
/// Lifetime: the group must outlive it. The destructor ends a write that is going on.
/// Failure: throws what the group reports, and what keeps training from going on from a snapshot. A snapshot
/// that cannot be written is in the reports.
/// Cost: as checkpoint::Saver.
class Snapshots {
 public:
  Snapshots(Communicator& group, CheckpointOptions options, const std::string& folder);

  /// Fills the pieces from the snapshot at `path`, or from the newest whole one of the folder at `path`,
  /// which may be that of a run, and sets `course`. An empty path: the folder of these snapshots; nothing if
  /// it has none.
  ///
  /// Failure: also throws kNotFound if a path that is not empty leads to no snapshot.
  std::optional<ResumeReport> resume(const std::string& path, checkpoint::Course& course,
                                     const checkpoint::Targets& targets);
  /// Goes on after step `step` of the training that wrote the snapshots of the folder, with a state from
  /// elsewhere: snapshots of later steps are set aside.
  void go_on_after(std::int64_t step);
  /// True if training goes on from a snapshot of this folder.
  bool goes_on() const { return goes_on_; }
  /// Makes the folder ready: no other job writes to it, and snapshots that this training does not follow are
  /// set aside. Only the first call has an effect.
  void open();
  /// Sets newer snapshots of the folder aside, if training goes on from an older one, for a training that
  /// writes none.
  void leave_behind();

  /// True if a snapshot is due after step `step`, as this rank sees it.
  bool is_due(std::int64_t step) const;
  /// Begins to write a snapshot.
  void save(std::vector<Piece> pieces, checkpoint::Course course);
  /// Waits for the write that is going on.
  void wait();

  /// The step of the newest complete snapshot.
  std::optional<std::int64_t> saved_step() const { return saved_step_; }
  /// Why the last snapshot was not written.
  const std::optional<Error>& last_failure() const { return last_failure_; }
  std::vector<CheckpointReport> take_reports();

 private:
  void collect();
  bool as_rank_0(bool mine);
  checkpoint::RestoreOrder order_for(const std::string& path);

  Communicator& group_;
  const CheckpointOptions options_;
  const std::string folder_;
  LocalFileSystem files_{};
  std::optional<FolderLock> lock_;            // on rank 0
  std::unique_ptr<checkpoint::Saver> saver_;  // null until open()
  std::vector<std::string> left_behind_;      // snapshots that this training does not follow
  bool goes_on_ = false;                      // from a snapshot of the folder
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now();
  std::optional<std::int64_t> saved_step_;
  std::optional<Error> last_failure_;
  std::vector<CheckpointReport> reports_;
};

}  // namespace cohort::train
