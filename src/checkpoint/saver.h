#pragma once

#include "checkpoint/manifest.h"
#include "checkpoint/retention.h"
#include "checkpoint/saving_plan.h"
#include "checkpoint/shard_writer.h"
#include "comm/group/communicator.h"
#include "storage/file_system.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace cohort::checkpoint {

/// When a snapshot is written.
enum class Writing : std::uint8_t {
  kBehind,  ///< while training goes on, from a copy in memory
  kAtOnce,  ///< before save() returns, from the memory of the state itself
};

struct SaverOptions {
  std::string folder{};
  Writing writing = Writing::kBehind;
  Compression compression = Compression::kNone;
  Retention retention{};
  /// Every how many-th snapshot is a full one; the others have what changed since then. 1: all are full.
  int full_every = 1;
};

/// The result of writing a snapshot.
struct SaveReport {
  std::int64_t step = 0;
  Status status{};               ///< success: the snapshot is complete, and survives a power cut
  bool is_skipped = false;       ///< the write before it was still going on
  std::uint64_t size_bytes = 0;  ///< of its files
  double stall_seconds = 0;      ///< for which training waited
  double write_seconds = 0;
  std::vector<std::string> removed{};  ///< snapshots that were no longer to be kept
  Status removal{};
};

/// Writes the state of a group of ranks as snapshots: all ranks write, each its share, and rank 0 completes
/// the snapshot once all of them have.
///
/// Threads: one at a time.
/// Lifetime: group and file system must outlive it. The destructor waits for the disk, but not for other
/// ranks: a snapshot whose write it ends is not completed.
/// Failure: errors of the group are returned. A write that fails is reported, on all ranks alike; it leaves
/// the snapshots before it as they were.
/// Cost: with Writing::kBehind a copy of this rank's share, and a thread during the write.
class Saver {
 public:
  /// All ranks call this together, and each method after it.
  static Result<std::unique_ptr<Saver>> make(Communicator& group, FileSystem& files, SaverOptions options);
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  /// Begins to write a snapshot, unless the write before it is still going on.
  Status save(std::span<const Piece> pieces, Course course);
  /// Waits until the write that is going on has ended.
  Status finish();
  /// The reports of the writes that have ended since the last call; not a call of all ranks.
  std::vector<SaveReport> take_reports();
  /// The step of the last snapshot that was begun.
  std::optional<std::int64_t> last_step() const { return last_step_; }

 private:
  class Writer;

  Saver(Communicator& group, std::unique_ptr<Writer> writer, SaverOptions options);
  Result<bool> is_ready(std::span<const Piece> pieces);
  void join();

  Communicator& group_;
  const SaverOptions options_;
  std::unique_ptr<Writer> writer_;
  SavingPlan plan_;
  bool has_plan_ = false;
  std::optional<SaveReport> report_;  // of the write that is going on; its thread writes to it
  std::atomic<bool> is_over_{true};
  std::thread thread_;
  std::vector<SaveReport> reports_;
  std::optional<std::int64_t> last_step_;
};

}  // namespace cohort::checkpoint
