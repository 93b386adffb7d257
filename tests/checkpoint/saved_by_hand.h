#pragma once

#include "checkpoint/changes.h"
#include "checkpoint/rank_state.h"
#include "checkpoint/shard_writer.h"
#include "checkpoint/share_out.h"
#include "checkpoint/snapshot.h"
#include "checkpoint/snapshot_folder.h"
#include "state/move.h"

namespace cohort::test {

/// Writes snapshots of several ranks as a Saver does, but without groups and threads.
class HandSaver {
 public:
  HandSaver(FileSystem& files, std::string folder, checkpoint::Compression compression = {})
      : files_(files), folder_(std::move(folder)), compression_(compression) {}

  /// A full snapshot with the name of this step.
  Status save_full(std::vector<RankState>& ranks, std::int64_t step) {
    COHORT_ASSIGN_OR_RETURN(const auto shares, shares_of(ranks));
    changes_.assign(ranks.size(), {});
    for (std::size_t r = 0; r < ranks.size(); ++r) changes_[r].set_base(shares[r]);
    base_ = {.kind = checkpoint::SnapshotKind::kFull};
    COHORT_RETURN_IF_ERROR(write(shares, step, base_));
    base_name_ = checkpoint::snapshot_name(step);
    return {};
  }

  /// The rows that changed since the last full snapshot, in the same layout.
  Status save_difference(std::vector<RankState>& ranks, std::int64_t step) {
    COHORT_ASSIGN_OR_RETURN(const auto shares, shares_of(ranks));
    std::vector<std::vector<Piece>> changed;
    for (std::size_t r = 0; r < ranks.size(); ++r) changed.push_back(changes_[r].since_base(shares[r]));
    checkpoint::Manifest manifest{.kind = checkpoint::SnapshotKind::kDifference,
                                  .base = base_name_,
                                  .base_hash = checkpoint::hash_of(base_)};
    return write(changed, step, manifest);
  }

 private:
  static Result<std::vector<std::vector<Piece>>> shares_of(std::vector<RankState>& ranks) {
    std::vector<std::vector<Piece>> held;
    for (RankState& rank : ranks) held.push_back(rank.pieces());
    COHORT_ASSIGN_OR_RETURN(const auto portions, checkpoint::share_out(held));
    std::vector<std::vector<Piece>> shares(ranks.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (const checkpoint::Portion& portion : portions[r]) {
        Piece share = held[r][portion.piece];
        const std::size_t size = size_bytes(share.dtype);
        share.mine = portion.mine;
        share.bytes = share.bytes.subspan(portion.first * size, portion.mine.count * size);
        shares[r].push_back(share);
      }
    }
    return shares;
  }

  Status write(const std::vector<std::vector<Piece>>& shares, std::int64_t step,
               checkpoint::Manifest& manifest) {
    const std::string name = checkpoint::snapshot_name(step);
    const std::string writing = checkpoint::writing_folder(folder_, name);
    COHORT_RETURN_IF_ERROR(files_.make_directories(writing));
    for (std::size_t r = 0; r < shares.size(); ++r) {
      COHORT_ASSIGN_OR_RETURN(checkpoint::Shard shard,
                              checkpoint::write_shard(files_, writing, fmt::format("rank-{}.safetensors", r),
                                                      shares[r], compression_));
      manifest.shards.push_back(std::move(shard));
    }
    manifest.course.position.step = step;
    return checkpoint::commit_snapshot(files_, folder_, name, manifest);
  }

  FileSystem& files_;
  const std::string folder_;
  const checkpoint::Compression compression_;
  std::vector<checkpoint::Changes> changes_;  // by rank
  checkpoint::Manifest base_;
  std::string base_name_;
};

/// Reads a snapshot into the memory of one rank.
inline Status load(FileSystem& files, const std::string& folder, std::int64_t step, RankState& rank) {
  COHORT_ASSIGN_OR_RETURN(const auto snapshot,
                          checkpoint::Snapshot::open(files, folder, checkpoint::snapshot_name(step)));
  return state::move(rank.pieces(), *snapshot);
}

}  // namespace cohort::test
