#pragma once

#include "checkpoint/manifest.h"
#include "storage/file_system.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cohort::checkpoint {

/// Reads bytes of one stored piece, after it has compared the hashes of the blocks that have them.
///
/// Threads: one at a time.
/// Lifetime: file system and piece must outlive it.
/// Failure: kCorrupt, naming file and tensor; else as FileSystem.
/// Cost: memory for one block; for a compressed piece, for all of its bytes.
class BlockReader {
 public:
  /// Gets bytes, each in one go or in several; `first` counts from the start of the read.
  using Take = std::function<void(std::uint64_t first, std::span<const std::byte> bytes)>;

  static Result<std::unique_ptr<BlockReader>> open(FileSystem& files, std::string path,
                                                   const StoredPiece& stored);
  /// `path` is that of the file, for errors.
  BlockReader(std::shared_ptr<ReadableFile> file, std::string path, const StoredPiece& stored);

  /// Reads `count` bytes of the piece from `first` on, as they were before they were compressed. Blocks end
  /// at whole elements. With `into`, memory for all these bytes, whole blocks are read into it and `take`
  /// gets them there, which saves a copy; after a failure the content of `into` is unspecified.
  Status read(std::uint64_t first, std::uint64_t count, const Take& take, std::span<std::byte> into = {});
  /// Compares the hashes of all blocks.
  Status check();

 private:
  std::size_t length_of(std::size_t block) const;
  Status fetch_to(std::size_t block, std::span<std::byte> to);
  Status fetch(std::size_t block);
  Status fetch_all();
  Error corrupt(std::string reason) const;

  const std::shared_ptr<ReadableFile> file_;
  const std::string path_;
  const StoredPiece& stored_;
  std::vector<std::byte> block_;  // the block that was read last
  std::vector<std::byte> decompressed_;
  std::optional<std::size_t> index_;  // of that block
  bool is_decompressed_ = false;
};

}  // namespace cohort::checkpoint
