#include "checkpoint/shard_writer.h"

#include "base/checksum.h"
#include "checkpoint/zstd.h"
#include "layout/slice.h"
#include "state/safetensors_header.h"
#include "storage/path.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <set>

namespace cohort::checkpoint {
namespace {

/// The tensors of a file, and the pieces that they store.
class Contents {
 public:
  Contents(std::span<const Piece> pieces, Compression compression) {
    for (const Piece& piece : pieces) taken_.insert(piece.name);
    for (const Piece& piece : pieces) add(piece, compression);
  }

  const std::vector<TensorView>& tensors() const { return tensors_; }
  std::vector<StoredPiece>& pieces() { return stored_; }

 private:
  void add(const Piece& piece, Compression compression) {
    StoredPiece stored{.piece = piece};
    stored.piece.bytes = {};
    const bool is_whole = piece.mine == whole(piece.shape);
    stored.tensor = is_whole ? piece.name : name_of_part(piece.name);
    TensorView view{.name = stored.tensor, .dtype = piece.dtype, .shape = {}, .bytes = piece.bytes};
    if (is_whole) {
      view.shape.assign(piece.shape.begin(), piece.shape.end());
    } else {
      view.shape = {static_cast<std::int64_t>(piece.mine.count)};
    }
    if (compression == Compression::kZstd) compress(stored, view);
    stored.size_bytes = view.bytes.size();
    stored_.push_back(std::move(stored));
    tensors_.push_back(std::move(view));
  }

  std::string name_of_part(const std::string& name) {
    std::string part;
    do {
      part = fmt::format("{}@{}", name, ++num_parts_[name]);
    } while (!taken_.insert(part).second);
    return part;
  }

  void compress(StoredPiece& stored, TensorView& view) {
    std::vector<std::byte> frame = compressed(view.bytes);
    if (frame.size() * 10 > view.bytes.size() * 9) return;
    frames_.push_back(std::move(frame));
    stored.encoding = Encoding::kZstd;
    view.dtype = DType::kU8;
    view.shape = {static_cast<std::int64_t>(frames_.back().size())};
    view.bytes = frames_.back();
  }

  std::vector<TensorView> tensors_;
  std::vector<StoredPiece> stored_;
  std::deque<std::vector<std::byte>> frames_;  // compressed bytes that views point to
  std::map<std::string, int> num_parts_;
  std::set<std::string> taken_;  // names of tensors
};

// The disk writes while the bytes after these are hashed.
constexpr std::uint64_t kBytesPerStart = std::uint64_t{8} << 20;

/// Appends bytes to a file and hashes them.
class HashedFile {
 public:
  explicit HashedFile(WritableFile& file) : file_(file) {}

  Status append(std::span<const std::byte> bytes) {
    size_bytes_ += bytes.size();
    hash_.add(bytes);
    COHORT_RETURN_IF_ERROR(file_.append(bytes));
    if (size_bytes_ - started_bytes_ < kBytesPerStart) return {};
    started_bytes_ = size_bytes_;
    file_.start_syncing();
    return {};
  }
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint64_t hash() const { return hash_.value(); }

 private:
  WritableFile& file_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t started_bytes_ = 0;
  ContentHash hash_;
};

Status append_blocks(HashedFile& file, std::span<const std::byte> bytes, StoredPiece& stored) {
  stored.first = file.size_bytes();
  for (std::size_t first = 0; first < bytes.size(); first += kBlockBytes) {
    const auto block = bytes.subspan(first, std::min(kBlockBytes, bytes.size() - first));
    stored.hashes.push_back(content_hash(block));
    COHORT_RETURN_IF_ERROR(file.append(block));
  }
  return {};
}

Result<Shard> write_contents(WritableFile& file, Contents& contents) {
  COHORT_ASSIGN_OR_RETURN(const std::string header,
                          state::make_header(contents.tensors(), {{"format", "pt"}}));
  HashedFile hashed(file);
  COHORT_RETURN_IF_ERROR(hashed.append(std::as_bytes(std::span(header))));
  Shard shard{.header_bytes = hashed.size_bytes(), .header_hash = hashed.hash()};
  for (std::size_t i = 0; i < contents.pieces().size(); ++i) {
    COHORT_RETURN_IF_ERROR(append_blocks(hashed, contents.tensors()[i].bytes, contents.pieces()[i]));
  }
  shard.size_bytes = hashed.size_bytes();
  shard.hash = hashed.hash();
  shard.pieces = std::move(contents.pieces());
  return shard;
}

}  // namespace

Result<UnsyncedShard> append_shard(FileSystem& files, const std::string& folder, const std::string& file,
                                   std::span<const Piece> pieces, Compression compression) {
  const std::string path = storage::joined(folder, file);
  const auto write = [&]() -> Result<UnsyncedShard> {
    Contents contents(pieces, compression);
    UnsyncedShard written{.path = path};
    COHORT_ASSIGN_OR_RETURN(written.file, files.create(path));
    COHORT_ASSIGN_OR_RETURN(written.shard, write_contents(*written.file, contents));
    written.shard.file = file;
    written.file->start_syncing();
    return written;
  };
  return write().within(fmt::format("cannot write '{}'", path));
}

Result<Shard> synced(UnsyncedShard written) {
  const auto sync = [&]() -> Status {
    COHORT_RETURN_IF_ERROR(written.file->sync());
    return written.file->close();
  };
  COHORT_RETURN_IF_ERROR(sync().within(fmt::format("cannot write '{}'", written.path)));
  return std::move(written.shard);
}

Result<Shard> write_shard(FileSystem& files, const std::string& folder, const std::string& file,
                          std::span<const Piece> pieces, Compression compression) {
  COHORT_ASSIGN_OR_RETURN(UnsyncedShard written, append_shard(files, folder, file, pieces, compression));
  return synced(std::move(written));
}

}  // namespace cohort::checkpoint
