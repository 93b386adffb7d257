#pragma once

#include "checkpoint/restore.h"
#include "checkpoint/saver.h"
#include "storage/local_file_system.h"
#include <cohort/checkpoint_options.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort::train {

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
  Snapshots(Communicator& group, CheckpointOptions options, std::string folder);

  /// Fills the pieces from the snapshot at `path`, or from the newest one of the folder at `path`, and sets
  /// `course`. Nothing if there is none.
  std::optional<ResumeReport> resume(const std::string& path, checkpoint::Course& course,
                                     const checkpoint::Targets& targets);
  /// Goes on after step `step` of the training that wrote the snapshots of the folder, with a state from
  /// elsewhere: snapshots of later steps are set aside.
  void go_on_after(std::int64_t step);
  /// Makes the folder ready: snapshots that this training does not follow are set aside. Only the first call
  /// has an effect.
  void open();

  /// True if a snapshot is due after step `step`, as this rank sees it.
  bool is_due(std::int64_t step) const;
  /// Begins to write a snapshot.
  void save(std::span<const Piece> pieces, checkpoint::Course course);
  /// Waits for the write that is going on.
  void wait();

  /// The step of the newest complete snapshot.
  std::optional<std::int64_t> saved_step() const { return saved_step_; }
  /// Why the last snapshot was not written.
  const std::optional<Error>& last_failure() const { return last_failure_; }
  std::vector<CheckpointReport> take_reports();

 private:
  void collect();

  Communicator& group_;
  const CheckpointOptions options_;
  const std::string folder_;
  LocalFileSystem files_{};
  std::unique_ptr<checkpoint::Saver> saver_;  // null until open()
  std::vector<std::string> left_behind_;      // snapshots that this training does not follow
  bool goes_on_ = false;                      // from a snapshot of the folder
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now();
  std::optional<std::int64_t> saved_step_;
  std::optional<Error> last_failure_;
  std::vector<CheckpointReport> reports_;
};

}  // namespace cohort::train
