#include "checkpoint/block_reader.h"

#include "base/checksum.h"
#include "checkpoint/zstd.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::checkpoint {

Result<std::unique_ptr<BlockReader>> BlockReader::open(FileSystem& files, std::string path,
                                                       const StoredPiece& stored) {
  COHORT_ASSIGN_OR_RETURN(auto file, files.open_read(path));
  return std::unique_ptr<BlockReader>(new BlockReader(std::move(file), std::move(path), stored));
}

BlockReader::BlockReader(std::unique_ptr<ReadableFile> file, std::string path, const StoredPiece& stored)
    : file_(std::move(file)), path_(std::move(path)), stored_(stored) {}

Error BlockReader::corrupt(std::string reason) const {
  return Error(ErrorCode::kCorrupt,
               fmt::format("tensor '{}' in '{}' is damaged: {}", stored_.tensor, path_, reason))
      .with_remedy("Use an older snapshot; `cohort checkpoint verify` tells which ones are whole.");
}

// Makes `block_` the block with this index, unless it is already.
Status BlockReader::fetch(std::size_t block) {
  if (index_ == block) return {};
  index_.reset();
  const std::uint64_t first = std::uint64_t{block} * kBlockBytes;
  block_.resize(std::min<std::uint64_t>(kBlockBytes, stored_.size_bytes - first));
  COHORT_ASSIGN_OR_RETURN(const std::size_t count, file_->read_at(stored_.first + first, block_));
  if (count != block_.size())
    return corrupt(fmt::format("the file ends {} bytes early", block_.size() - count));
  const std::uint64_t hash = content_hash(block_);
  if (hash != stored_.hashes[block]) {
    return corrupt(fmt::format("the hash of bytes {} … {} of the file is {:016x}, expected {:016x}",
                               stored_.first + first, stored_.first + first + count - 1, hash,
                               stored_.hashes[block]));
  }
  index_ = block;
  return {};
}

Status BlockReader::fetch_all() {
  if (is_decompressed_) return {};
  std::vector<std::byte> frame;
  for (std::size_t block = 0; block < stored_.hashes.size(); ++block) {
    COHORT_RETURN_IF_ERROR(fetch(block));
    frame.insert(frame.end(), block_.begin(), block_.end());
  }
  auto bytes = decompressed(frame, stored_.piece.mine.count * size_bytes(stored_.piece.dtype));
  if (!bytes) return corrupt(bytes.error().message());
  decompressed_ = std::move(*bytes);
  is_decompressed_ = true;
  return {};
}

Status BlockReader::read(std::uint64_t first, std::uint64_t count, const Take& take) {
  if (count == 0) return {};
  if (stored_.encoding == Encoding::kZstd) {
    COHORT_RETURN_IF_ERROR(fetch_all());
    take(0, std::span<const std::byte>(decompressed_).subspan(first, count));
    return {};
  }
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t at = first + done;
    COHORT_RETURN_IF_ERROR(fetch(at / kBlockBytes));
    const std::uint64_t in_block = at % kBlockBytes;
    const std::uint64_t length = std::min<std::uint64_t>(block_.size() - in_block, count - done);
    take(done, std::span<const std::byte>(block_).subspan(in_block, length));
    done += length;
  }
  return {};
}

Status BlockReader::check() {
  if (stored_.encoding == Encoding::kZstd) return fetch_all();
  for (std::size_t block = 0; block < stored_.hashes.size(); ++block) COHORT_RETURN_IF_ERROR(fetch(block));
  return {};
}

}  // namespace cohort::checkpoint
