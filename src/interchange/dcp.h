#pragma once

#include "interchange/dcp_metadata.h"
#include "interchange/file_pieces.h"
#include "interchange/name_rules.h"
#include "interchange/torch_file.h"

namespace cohort::interchange {

/// A directory that torch.distributed.checkpoint wrote. Its metadata are read; tensors and other values on
/// demand.
///
///     const DcpDirectory dcp = value_or_throw(open_dcp(fs, "checkpoint"));
///     const auto rules = value_or_throw(NameRules::parse({{"model.* -> *"}}));
///     DcpPieces pieces(dcp, rules);
///     value_or_throw(state::move(my_pieces, pieces));
///     const Value step = value_or_throw(dcp.value("step"));
///
/// Threads: immutable; every method from any thread, concurrently.
/// Lifetime: must not outlive the FileSystem.
class DcpDirectory {
 public:
  const std::vector<DcpTensor>& tensors() const { return metadata_.tensors; }
  /// The names of the values that are no tensors.
  std::vector<std::string> value_names() const;
  /// A value that is no tensor: a number, a text, a list, ….
  ///
  /// Failure: kNotFound if there is none of this name; else as open_torch_file().
  Result<Value> value(const std::string& name) const;
  /// Opens a chunk or another value.
  Result<TorchFile> open(const DcpPlace& place) const;

 private:
  friend Result<DcpDirectory> open_dcp(FileSystem& fs, const std::string& directory);
  DcpDirectory(FileSystem& fs, std::string directory, DcpMetadata metadata)
      : fs_(&fs), directory_(std::move(directory)), metadata_(std::move(metadata)) {}

  FileSystem* fs_;
  std::string directory_;
  DcpMetadata metadata_;
};

/// Failure: kNotFound if the directory has no `.metadata`; kUnsupported for metadata that need more than the
/// table of globals.h; kCorrupt, naming the place or the field, for everything that breaks the format.
Result<DcpDirectory> open_dcp(FileSystem& fs, const std::string& directory);

/// The chunks of all tensors as pieces, under the names that rules give them.
///
/// Lifetime: the directory must outlive it.
/// Failure: read() gives kCorrupt for a chunk of another type or shape than the metadata say.
class DcpPieces final : public FilePieces {
 public:
  explicit DcpPieces(const DcpDirectory& directory, const NameRules& rules = {});

 private:
  struct Chunk {
    const DcpTensor* tensor = nullptr;
    const DcpChunk* chunk = nullptr;
  };
  struct Opened {
    std::size_t index = 0;
    TorchFile file;
    StoredTensor tensor{};
  };

  Status read_piece(std::size_t index, std::uint64_t first, std::span<std::byte> into) override;
  bool has_cheap_parts(std::size_t) const override { return true; }
  Result<Opened> open(std::size_t index) const;

  const DcpDirectory& directory_;
  std::vector<Chunk> chunks_;
  std::optional<Opened> opened_;  // the chunk that was read last
};

}  // namespace cohort::interchange
