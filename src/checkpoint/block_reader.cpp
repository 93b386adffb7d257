#include "checkpoint/block_reader.h"

#include "base/checksum.h"
#include "checkpoint/zstd.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::checkpoint {

Result<std::unique_ptr<BlockReader>> BlockReader::open(FileSystem& files, std::string path,
                                                       const StoredPiece& stored) {
  COHORT_ASSIGN_OR_RETURN(auto file, files.open_read(path));
  return std::make_unique<BlockReader>(std::move(file), std::move(path), stored);
}

BlockReader::BlockReader(std::shared_ptr<ReadableFile> file, std::string path, const StoredPiece& stored)
    : file_(std::move(file)), path_(std::move(path)), stored_(stored) {}

Error BlockReader::corrupt(std::string reason) const {
  return Error(ErrorCode::kCorrupt,
               fmt::format("tensor '{}' in '{}' is damaged: {}", stored_.tensor, path_, reason))
      .with_remedy("Use an older snapshot; `cohort checkpoint verify` tells which ones are whole.");
}

std::size_t BlockReader::length_of(std::size_t block) const {
  return std::min<std::uint64_t>(kBlockBytes, stored_.size_bytes - std::uint64_t{block} * kBlockBytes);
}

// Makes `block_` the block with this index, unless it is already.
Status BlockReader::fetch(std::size_t block) {
  if (index_ == block) return {};
  index_.reset();
  block_.resize(length_of(block));
  COHORT_RETURN_IF_ERROR(fetch_to(block, block_));
  index_ = block;
  return {};
}

// Reads a block to memory of its length, and compares its hash.
Status BlockReader::fetch_to(std::size_t block, std::span<std::byte> to) {
  const std::uint64_t first = std::uint64_t{block} * kBlockBytes;
  COHORT_ASSIGN_OR_RETURN(const std::size_t count, file_->read_at(stored_.first + first, to));
  if (count != to.size()) return corrupt(fmt::format("the file ends {} bytes early", to.size() - count));
  const std::uint64_t hash = content_hash(to);
  if (hash != stored_.hashes[block]) {
    return corrupt(fmt::format("the hash of bytes {} … {} of the file is {:016x}, expected {:016x}",
                               stored_.first + first, stored_.first + first + count - 1, hash,
                               stored_.hashes[block]));
  }
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

Status BlockReader::read(std::uint64_t first, std::uint64_t count, const Take& take,
                         std::span<std::byte> into) {
  if (count == 0) return {};
  if (stored_.encoding == Encoding::kZstd) {
    COHORT_RETURN_IF_ERROR(fetch_all());
    take(0, std::span<const std::byte>(decompressed_).subspan(first, count));
    return {};
  }
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t at = first + done, in_block = at % kBlockBytes;
    const std::size_t block = at / kBlockBytes, block_bytes = length_of(block);
    if (!into.empty() && in_block == 0 && block_bytes <= count - done) {
      const std::span<std::byte> to = into.subspan(done, block_bytes);
      COHORT_RETURN_IF_ERROR(fetch_to(block, to));
      take(done, to);
      done += block_bytes;
      continue;
    }
    COHORT_RETURN_IF_ERROR(fetch(block));
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
