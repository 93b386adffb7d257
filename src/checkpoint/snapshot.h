#pragma once

#include "checkpoint/manifest.h"
#include "state/piece_source.h"
#include "storage/file_system.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cohort::checkpoint {

/// The pieces of a snapshot, to be moved into any layout. A snapshot that is a difference is read together
/// with its base.
///
/// Threads: one at a time. Several processes may read a snapshot at the same time.
/// Lifetime: the file system must outlive it.
/// Failure: open() returns kNotFound or kCorrupt for a manifest or a file that is not as it was written, and
/// read() returns kCorrupt, naming file and tensor, for bytes whose hash is another one: no byte is handed
/// out before its hash was compared. Whole blocks are read to Read::into before that.
/// Cost: reads and hashes whole blocks of kBlockBytes; a compressed tensor is decompressed in memory.
class Snapshot final : public state::PieceSource {
 public:
  /// Opens the snapshot at `folder`/`name`.
  static Result<std::unique_ptr<Snapshot>> open(FileSystem& files, const std::string& folder,
                                                const std::string& name);

  const std::string& name() const { return name_; }
  const Manifest& manifest() const { return manifests_.front(); }
  /// Its own manifest, then that of its base if it is a difference.
  std::span<const Manifest> manifests() const { return manifests_; }
  /// The path of a file of the manifest with this index.
  std::string path_of(std::size_t manifest, const std::string& file) const;
  /// The entry of the manifest for the held piece with this index.
  const StoredPiece& stored_piece(std::size_t held) const { return stored(places_[held]); }
  /// The file of this held piece, seen from the folder of the snapshot: that of a base is
  /// `../step-000000000500/model-00001-of-00002.safetensors`.
  std::string file_of(std::size_t held) const;

  std::span<const state::HeldPiece> held() const override { return held_; }
  Status agree(const Status& mine) override { return mine; }
  Status read(std::span<const state::Read> reads, const state::Taker& take) override;

 private:
  struct Place {  // of a held piece
    std::size_t manifest = 0;
    std::size_t shard = 0;
    std::size_t piece = 0;
  };

  Snapshot(FileSystem& files, std::string folder, std::string name);
  Status add_manifest(const std::string& name);
  Status add_base(const std::string& name);
  void list_pieces();
  const StoredPiece& stored(const Place& place) const {
    return manifests_[place.manifest].shards[place.shard].pieces[place.piece];
  }

  FileSystem& files_;
  const std::string folder_;
  const std::string name_;
  std::vector<Manifest> manifests_;
  std::vector<std::string> names_;  // of the snapshots that have these manifests
  std::vector<state::HeldPiece> held_;
  std::vector<Place> places_;
};

}  // namespace cohort::checkpoint
