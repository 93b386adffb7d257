#include "checkpoint/snapshot.h"

#include "checkpoint/block_reader.h"
#include "checkpoint/snapshot_folder.h"
#include "storage/path.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace cohort::checkpoint {

Snapshot::Snapshot(FileSystem& files, std::string folder, std::string name)
    : files_(files), folder_(std::move(folder)), name_(std::move(name)) {}

Result<std::unique_ptr<Snapshot>> Snapshot::open(FileSystem& files, const std::string& folder,
                                                 const std::string& name) {
  std::unique_ptr<Snapshot> snapshot(new Snapshot(files, folder, name));
  const auto open = [&]() -> Status {
    COHORT_RETURN_IF_ERROR(snapshot->add_manifest(name));
    const std::string base = snapshot->manifest().base;
    if (!base.empty()) {
      COHORT_RETURN_IF_ERROR(snapshot->add_base(base).within(fmt::format("its base '{}' is needed", base)));
    }
    return {};
  };
  COHORT_RETURN_IF_ERROR(
      open().within(fmt::format("cannot open the snapshot '{}'", storage::joined(folder, name))));
  snapshot->list_pieces();
  return snapshot;
}

// Files of another length than the manifest has were cut, or belong to another snapshot.
Status Snapshot::add_manifest(const std::string& name) {
  const std::string path = storage::joined(folder_, name);
  COHORT_ASSIGN_OR_RETURN(Manifest manifest, read_manifest(files_, path));
  for (const Shard& shard : manifest.shards) {
    const std::string file = storage::joined(path, shard.file);
    COHORT_ASSIGN_OR_RETURN(const FileInfo found, files_.info(file));
    if (found.kind == FileKind::kFile && found.size_bytes == shard.size_bytes) continue;
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' has {} bytes, expected {}", file, found.size_bytes, shard.size_bytes));
  }
  manifests_.push_back(std::move(manifest));
  names_.push_back(name);
  return {};
}

// A snapshot of another run may have the same name. The base of a difference that was set aside may be where
// both were.
Status Snapshot::add_base(const std::string& name) {
  const bool is_beside = files_.exists(storage::joined(folder_, name)).value_or(true);
  COHORT_RETURN_IF_ERROR(add_manifest(is_beside ? name : "../" + name));
  if (manifests_.back().kind != SnapshotKind::kFull) {
    return Error(ErrorCode::kCorrupt, "it is a difference, expected a full snapshot");
  }
  if (manifests_.back().hash == manifest().base_hash) return {};
  return Error(ErrorCode::kCorrupt,
               fmt::format("field 'hash' of its manifest is '{:016x}', expected '{:016x}'",
                           manifests_.back().hash, manifest().base_hash));
}

// Elements of a difference come before those of its base, and count instead of them. A difference has the
// elements that are merged in full, so those of its base are left out.
void Snapshot::list_pieces() {
  std::set<std::string_view> merged;
  for (std::size_t m = 0; m < manifests_.size(); ++m) {
    const std::vector<Shard>& shards = manifests_[m].shards;
    for (std::size_t s = 0; s < shards.size(); ++s) {
      for (std::size_t p = 0; p < shards[s].pieces.size(); ++p) {
        const Piece& piece = shards[s].pieces[p].piece;
        if (m > 0 && merged.contains(piece.name)) continue;
        if (m == 0 && piece.merge != Merge::kSame) merged.insert(piece.name);
        held_.push_back({.piece = piece, .holder = static_cast<int>(s)});
        places_.push_back({m, s, p});
      }
    }
  }
}

std::string Snapshot::path_of(std::size_t manifest, const std::string& file) const {
  return storage::joined(storage::joined(folder_, names_[manifest]), file);
}

std::string Snapshot::file_of(std::size_t held) const {
  const Place& place = places_[held];
  const std::string& file = manifests_[place.manifest].shards[place.shard].file;
  return place.manifest == 0 ? file : fmt::format("../{}/{}", names_[place.manifest], file);
}

// Reads in the order of pieces and of their bytes, so that each block is fetched once.
Status Snapshot::read(std::span<const state::Read> reads, const state::Taker& take) {
  std::vector<std::size_t> order(reads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(reads[a].held, reads[a].from) < std::pair(reads[b].held, reads[b].from);
  });
  std::unique_ptr<BlockReader> reader;
  std::shared_ptr<ReadableFile> file;
  std::string path;                 // of that file
  std::optional<std::size_t> held;  // the piece that the reader reads
  for (const std::size_t r : order) {
    const state::Read& read = reads[r];
    const Place& place = places_[read.held];
    if (held != read.held) {
      const Shard& shard = manifests_[place.manifest].shards[place.shard];
      std::string wanted = path_of(place.manifest, shard.file);
      if (wanted != path) {
        COHORT_ASSIGN_OR_RETURN(file, files_.open_read(wanted));
        path = std::move(wanted);
      }
      reader = std::make_unique<BlockReader>(file, path, stored(place));
      held = read.held;
    }
    const std::size_t element_bytes = size_bytes(stored(place).piece.dtype);
    COHORT_RETURN_IF_ERROR(reader->read(
        read.from * element_bytes, read.count * element_bytes,
        [&](std::uint64_t first, std::span<const std::byte> bytes) { take(r, first / element_bytes, bytes); },
        read.into));
  }
  return {};
}

}  // namespace cohort::checkpoint
