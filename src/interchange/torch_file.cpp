#include "interchange/torch_file.h"

#include "interchange/zip/crc.h"

#include <fmt/format.h>

namespace cohort::interchange {
namespace {

Result<TorchContent> read_content(ReadableFile& file, std::uint64_t offset,
                                  std::optional<std::uint64_t> size_bytes) {
  COHORT_ASSIGN_OR_RETURN(const FileWindow whole, FileWindow::whole(file));
  const std::uint64_t rest = whole.size_bytes() - std::min(offset, whole.size_bytes());
  COHORT_ASSIGN_OR_RETURN(const FileWindow part, whole.part(offset, size_bytes.value_or(rest)));
  COHORT_ASSIGN_OR_RETURN(const bool is_zip, ZipArchive::is_zip(part));
  return is_zip ? read_torch_zip(part) : read_torch_legacy(part);
}

}  // namespace

Result<TorchFile> open_torch_part(FileSystem& fs, const std::string& path, std::uint64_t offset,
                                  std::optional<std::uint64_t> size_bytes) {
  const auto open = [&]() -> Result<TorchFile> {
    COHORT_ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, fs.open_read(path));
    COHORT_ASSIGN_OR_RETURN(TorchContent content, read_content(*file, offset, size_bytes));
    return TorchFile(std::move(file), std::move(content));
  };
  return open().within(fmt::format("cannot read torch file '{}'", path));
}

Result<TorchFile> open_torch_file(FileSystem& fs, const std::string& path) {
  return open_torch_part(fs, path, 0, std::nullopt);
}

Status TorchFile::read(const StoredTensor& tensor, std::uint64_t first, std::span<std::byte> into) const {
  const StorageBytes& storage = content_.storages.at(tensor.storage);
  COHORT_RETURN_IF_ERROR(read_elements(tensor, storage.data, first, into));
  const bool is_whole = into.size() == storage.data.size_bytes() && is_contiguous(tensor);
  return is_whole && storage.entry ? expect_crc(*storage.entry, zip_crc(into)) : Status();
}

Status TorchFile::check() const {
  for (const StorageBytes& storage : content_.storages) {
    if (storage.entry) COHORT_RETURN_IF_ERROR(check_crc(*storage.entry));
  }
  return {};
}

}  // namespace cohort::interchange
