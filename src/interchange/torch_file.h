#pragma once

#include "interchange/stored_elements.h"
#include "interchange/torch_content.h"

#include <memory>

namespace cohort::interchange {

/// A file of Python's torch.save(): its values as a tree, and its tensors, which are read on demand. Nothing
/// of the file is executed.
///
///     const TorchFile file = value_or_throw(open_torch_file(fs, "model.pt"));
///     for (const NamedTensor& each : value_or_throw(find_model(file.root())).tensors) {
///       std::vector<std::byte> bytes(num_elements_of(each.tensor) * size_bytes(each.tensor.dtype));
///       value_or_throw(file.read(each.tensor, 0, bytes));
///     }
///
/// Threads: immutable; every method from any thread, concurrently.
/// Lifetime: must not outlive the FileSystem. The file stays open.
/// Cost: memory for the tree, none for tensors.
class TorchFile {
 public:
  /// Dictionaries, lists, numbers, texts and tensors, as they were saved.
  const Value& root() const { return content_.root; }

  /// Elements of a tensor of the tree in row-major order, little endian, from number `first` on: as many as
  /// `into` has room for. A storage that is read as a whole is compared with its checksum.
  ///
  /// Failure: kCorrupt if the checksum differs; else as ReadableFile.
  /// Cost: as read_elements().
  Status read(const StoredTensor& tensor, std::uint64_t first, std::span<std::byte> into) const;
  /// Reads all storages and compares their checksums. Files of the legacy form have none.
  ///
  /// Failure: kCorrupt, naming the entry.
  Status check() const;

 private:
  friend Result<TorchFile> open_torch_part(FileSystem& fs, const std::string& path, std::uint64_t offset,
                                           std::optional<std::uint64_t> size_bytes);
  TorchFile(std::unique_ptr<ReadableFile> file, TorchContent content)
      : file_(std::move(file)), content_(std::move(content)) {}

  std::unique_ptr<ReadableFile> file_;
  TorchContent content_;
};

/// Opens a file of torch.save(), of the zip form or the legacy form.
///
/// Failure: kUnsupported for files that need more than the tables of globals.h, with the name and its place;
/// kCorrupt, naming the place, for everything that breaks the format; else as FileSystem.
Result<TorchFile> open_torch_file(FileSystem& fs, const std::string& path);
/// Opens what torch.save() wrote into a part of a file, from `offset` on; up to the end without a size.
Result<TorchFile> open_torch_part(FileSystem& fs, const std::string& path, std::uint64_t offset,
                                  std::optional<std::uint64_t> size_bytes);

}  // namespace cohort::interchange
