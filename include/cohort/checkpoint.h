#pragma once

#include <cohort/checkpoint_options.h>
#include <cohort/export.h>
#include <cohort/state.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace cohort {

class DataParallel;
class Group;

/// Snapshots of a training loop of your own: of the module, and of everything that the optimizer keeps. A
/// Trainer has them by TrainerOptions::checkpoint.
///
///     cohort::Checkpoint checkpoint(context, *net, optimizer, {.directory = "points", .every_steps = 100});
///     for (std::int64_t step = checkpoint.resume(); step < 1000; ++step) {
///       …
///       checkpoint.step_done(step + 1);
///     }
///     checkpoint.finish();
///
/// Ranks may go on in another number. Random numbers of torch are not kept: draw them from seed and step, or
/// visit the state of your generator with also().
///
/// Threads: one at a time. All ranks make the same calls; those that save wait for nobody's disk.
/// Lifetime: module, optimizer and DataParallel must outlive it; it keeps what it needs of its group alive. The
/// destructor ends a write that is going on: call finish().
/// Failure: throws Error, as the group does. A snapshot that cannot be written is in reports(), and leaves those
/// before it as they were.
class COHORT_EXPORT Checkpoint {
 public:
  Checkpoint(Group& group, torch::nn::Module& module, torch::optim::Optimizer& optimizer,
             CheckpointOptions options);
  /// With a DataParallel, sums of gradients have the same bits as before in any group.
  Checkpoint(Group& group, DataParallel& parallel, torch::nn::Module& module,
             torch::optim::Optimizer& optimizer, CheckpointOptions options);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  /// Visits more of your state, from now on.
  void also(std::function<void(const StateVisitor&)> visit);

  /// Fills everything from the newest whole snapshot, before the first step. Returns the number of steps that
  /// were done when it was written; 0 if there is none.
  std::int64_t resume();
  /// The same from the snapshot at `path`; newer ones of the folder are moved to its sub-folder set-aside-1,
  /// set-aside-2, ….
  ///
  /// Failure: throws kNotFound or kCorrupt if it is not whole.
  std::int64_t resume(const std::string& path);

  /// Tells that `steps` steps are done, and saves if a snapshot is due.
  void step_done(std::int64_t steps);
  /// Begins to write a snapshot now.
  void save(std::int64_t steps);
  /// Saves after the last step, unless that has been done, and waits for the disk.
  ///
  /// Failure: also throws the failure of that snapshot.
  void finish();
  /// The results of snapshots whose write has ended since the last call.
  std::vector<CheckpointReport> reports();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort
