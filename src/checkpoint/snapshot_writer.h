#pragma once

#include "checkpoint/changes.h"
#include "checkpoint/manifest.h"
#include "checkpoint/saver.h"
#include "comm/group/communicator.h"
#include "storage/file_system.h"

#include <span>
#include <string>
#include <vector>

namespace cohort::checkpoint {

/// Writes one snapshot after the other, together with the other ranks of the group.
///
/// Threads: one at a time.
/// Lifetime: group and file system must outlive it.
/// Failure: a failure of any rank is returned on all of them, and the snapshot does not exist then.
class SnapshotWriter {
 public:
  SnapshotWriter(Communicator& group, FileSystem& files, const SaverOptions& options)
      : group_(group), files_(files), options_(options) {}

  /// Writes `pieces`, the share of this rank, then completes the snapshot. Fills in the report.
  void write(std::span<const Piece> pieces, const Course& course, SaveReport& report);
  /// The next snapshot is a full one: the share of this rank has another layout.
  void forget_base() { base_.clear(); }
  Communicator& group() { return group_; }

 private:
  Status write_all(std::span<const Piece> pieces, const Course& course, SaveReport& report);
  /// All of the pieces, or what has changed of them since `base_`.
  Result<std::vector<Shard>> write_share(std::span<const Piece> pieces, const std::string& name);
  Result<std::vector<Shard>> write_shards(std::span<const Piece> pieces, const std::string& name);
  Result<Manifest> gather_manifest(const Course& course, const std::vector<Shard>& mine);
  Status commit(const Manifest& manifest, const std::string& name);
  void remove_old(SaveReport& report);
  Result<std::vector<Kept>> present();

  Communicator& group_;
  FileSystem& files_;
  const SaverOptions& options_;
  Changes changes_;
  std::string base_;             // name of the last full snapshot; empty: the next one is full
  std::uint64_t base_hash_ = 0;  // of its manifest; on rank 0
  int num_since_base_ = 0;       // snapshots, that one included
};

}  // namespace cohort::checkpoint
