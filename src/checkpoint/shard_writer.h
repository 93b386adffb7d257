#pragma once

#include "checkpoint/manifest.h"
#include "storage/file_system.h"

#include <memory>
#include <span>
#include <string>

namespace cohort::checkpoint {

/// Whether the bytes of tensors are compressed.
enum class Compression : std::uint8_t {
  kNone,
  kZstd,  ///< those tensors that become at least a tenth smaller
};

/// Writes a file with these pieces, in this order, and syncs it. A piece that is a whole tensor has its name
/// and shape in the file, so that any reader of safetensors finds it; another one is a row of its elements,
/// `weight/exp_avg@2`, or of its compressed bytes.
///
/// Failure: as FileSystem, naming the file; kUsage for names that the format cannot hold. The file may then
/// have any prefix of its bytes.
/// Cost: a pass of two hashes over all bytes; with kZstd, memory for the compressed bytes.
Result<Shard> write_shard(FileSystem& files, const std::string& folder, const std::string& file,
                          std::span<const Piece> pieces, Compression compression);

/// A shard whose bytes a power cut may still take.
struct UnsyncedShard {
  Shard shard{};
  std::string path{};
  std::unique_ptr<WritableFile> file{};
};

/// The first part of write_shard(). With several files, all are appended before the first is synced: the disk
/// has enough to do then, while this process hashes.
Result<UnsyncedShard> append_shard(FileSystem& files, const std::string& folder, const std::string& file,
                                   std::span<const Piece> pieces, Compression compression);
/// The second part.
Result<Shard> synced(UnsyncedShard written);

}  // namespace cohort::checkpoint
