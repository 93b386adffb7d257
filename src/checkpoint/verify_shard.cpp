#include "checkpoint/verify_shard.h"

#include "base/checksum.h"
#include "checkpoint/json_fields.h"
#include "checkpoint/shard_header.h"
#include "checkpoint/zstd.h"
#include "state/safetensors_header.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::checkpoint {
namespace {

/// Reads a file from front to back, and remembers what is wrong with it.
class ShardVerifier {
 public:
  ShardVerifier(ReadableFile& file, const Shard& shard, const BytesChecked& report)
      : file_(file), shard_(shard), report_(report) {}

  std::vector<Damage> run() {
    const Status read = read_all();
    if (!read) note("", read.error().text());
    return std::move(damaged_);
  }

 private:
  Status read_all() {
    COHORT_ASSIGN_OR_RETURN(length_, file_.size_bytes());
    if (length_ != shard_.size_bytes) {
      note("", fmt::format("its length is {} bytes, expected {}", length_, shard_.size_bytes));
    }
    COHORT_RETURN_IF_ERROR(check_header());
    for (const StoredPiece* piece : in_order_of_bytes(shard_)) COHORT_RETURN_IF_ERROR(check_piece(*piece));
    if (damaged_.empty() && whole_.value() != shard_.hash) {
      note("", differs("the file", whole_.value(), shard_.hash));
    }
    return {};
  }

  // The next bytes of the file; fewer of them where it ends.
  Result<std::span<const std::byte>> next(std::uint64_t count) {
    buffer_.resize(std::min(count, length_ - std::min(length_, at_)));
    COHORT_ASSIGN_OR_RETURN(const std::size_t found, file_.read_at(at_, buffer_));
    buffer_.resize(found);
    at_ += found;
    whole_.add(buffer_);
    report_(found);
    return std::span<const std::byte>(buffer_);
  }

  Status check_header() {
    end_ = shard_.header_bytes;
    if (end_ > state::kLengthBytes + state::kMaxHeaderBytes) {
      note("", fmt::format("its header has {} bytes by the manifest, expected at most {}", end_,
                           state::kLengthBytes + state::kMaxHeaderBytes));
      return {};
    }
    COHORT_ASSIGN_OR_RETURN(const auto bytes, next(shard_.header_bytes));
    if (const std::uint64_t hash = content_hash(bytes); hash != shard_.header_hash) {
      note("", differs("its header", hash, shard_.header_hash));
      return {};
    }
    for (HeaderMistake& mistake : header_mistakes(bytes, shard_)) {
      note(mistake.tensor, std::move(mistake.reason));
    }
    return {};
  }

  Status check_piece(const StoredPiece& stored) {
    if (stored.first != end_) {
      note(stored.tensor,
           fmt::format("it begins at byte {} by the manifest, expected {}", stored.first, end_));
    }
    at_ = stored.first;
    end_ = stored.first + stored.size_bytes;
    std::vector<std::byte> frame;
    bool is_whole = true;
    for (std::size_t block = 0; block < stored.hashes.size() && is_whole; ++block) {
      COHORT_ASSIGN_OR_RETURN(is_whole, check_block(stored, block));
      if (stored.encoding == Encoding::kZstd) frame.insert(frame.end(), buffer_.begin(), buffer_.end());
    }
    if (stored.encoding == Encoding::kZstd && is_whole) check_frame(stored, frame);
    return {};
  }

  Result<bool> check_block(const StoredPiece& stored, std::size_t block) {
    const std::uint64_t first = std::uint64_t{block} * kBlockBytes;
    const std::uint64_t wanted = std::min<std::uint64_t>(kBlockBytes, stored.size_bytes - first);
    COHORT_ASSIGN_OR_RETURN(const auto bytes, next(wanted));
    const std::string name =
        fmt::format("bytes {} … {}", stored.first + first, stored.first + first + wanted - 1);
    if (bytes.size() < wanted) {
      note(stored.tensor, fmt::format("{} of {} are missing", wanted - bytes.size(), name));
      return false;
    }
    const std::uint64_t hash = content_hash(bytes);
    if (hash == stored.hashes[block]) return true;
    note(stored.tensor, differs(name, hash, stored.hashes[block]));
    return false;
  }

  void check_frame(const StoredPiece& stored, std::span<const std::byte> frame) {
    const auto bytes = decompressed(frame, stored.piece.mine.count * size_bytes(stored.piece.dtype));
    if (!bytes) note(stored.tensor, bytes.error().text());
  }

  static std::string differs(std::string_view part, std::uint64_t found, std::uint64_t expected) {
    return fmt::format("the hash of {} is {}, expected {}", part, hash_text(found), hash_text(expected));
  }

  void note(std::string tensor, std::string reason) {
    damaged_.push_back({.file = shard_.file, .tensor = std::move(tensor), .reason = std::move(reason)});
  }

  ReadableFile& file_;
  const Shard& shard_;
  const BytesChecked& report_;
  std::vector<std::byte> buffer_;
  std::uint64_t at_ = 0;   // offset of the next byte
  std::uint64_t end_ = 0;  // of the tensor before, by the manifest
  std::uint64_t length_ = 0;
  ContentHash whole_;
  std::vector<Damage> damaged_;
};

}  // namespace

std::vector<Damage> verify_shard(FileSystem& files, const std::string& path, const Shard& shard,
                                 const BytesChecked& report) {
  const auto file = files.open_read(path);
  if (!file) return {{.file = shard.file, .reason = file.error().root().message()}};
  return ShardVerifier(**file, shard, report).run();
}

}  // namespace cohort::checkpoint
