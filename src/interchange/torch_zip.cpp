#include "interchange/input/printable.h"
#include "interchange/torch_content.h"

#include <array>

namespace cohort::interchange {
namespace {

constexpr std::string_view kPickleName = "/data.pkl";

// The folder that all entries are in, by the entry data.pkl.
Result<std::string> archive_name(const ZipArchive& archive) {
  std::optional<std::string> found;
  for (const ZipEntry& entry : archive.entries()) {
    const std::size_t slash = entry.name.find('/');
    if (slash == std::string::npos || entry.name.substr(slash) != kPickleName) continue;
    if (found) return Error(ErrorCode::kCorrupt, "expected one entry 'data.pkl', found several");
    found = entry.name.substr(0, slash);
  }
  if (found) return std::move(*found);
  return Error(ErrorCode::kUnsupported,
               "it is a zip file without an entry 'data.pkl', expected one of torch.save()");
}

Status refuse_torchscript(const ZipArchive& archive, const std::string& name) {
  if (archive.find(name + "/constants.pkl") == nullptr) return {};
  return Error(ErrorCode::kUnsupported,
               "it is a TorchScript archive, expected a file of Python's torch.save()")
      .with_remedy("Save its tensors in Python: torch.save(torch.jit.load(path).state_dict(), other_path).");
}

// Files without the entry are older than it, and little endian.
Status check_byte_order(const ZipArchive& archive, const std::string& name) {
  const ZipEntry* const entry = archive.find(name + "/byteorder");
  if (entry == nullptr) return {};
  constexpr std::string_view kLittle = "little";
  std::string order(std::min<std::uint64_t>(entry->data.size_bytes(), kLittle.size() + 1), ' ');
  COHORT_RETURN_IF_ERROR(entry->data.read(0, std::as_writable_bytes(std::span(order))));
  if (order == kLittle) return {};
  return Error(ErrorCode::kUnsupported,
               fmt::format("its byte order is '{}', expected '{}'", printable(order), kLittle))
      .with_remedy("Load and save it in Python on a little-endian machine.");
}

Result<StorageBytes> find_storage(const ZipArchive& archive, const std::string& name,
                                  const StorageKey& storage) {
  const ZipEntry* const entry = archive.find(fmt::format("{}/data/{}", name, storage.key));
  if (entry == nullptr) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("storage '{}' has no entry '{}/data/{}'", printable(storage.key),
                             printable(name), printable(storage.key)));
  }
  const std::uint64_t expected = storage.count * storage.element_bytes();
  if (entry->data.size_bytes() != expected) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("zip entry '{}' has {} bytes, expected {}", printable(entry->name),
                             entry->data.size_bytes(), expected));
  }
  StorageBytes bytes{.data = entry->data, .entry = {}};
  if (archive.has_checksums()) bytes.entry = *entry;
  return bytes;
}

}  // namespace

Result<TorchContent> read_torch_zip(const FileWindow& file) {
  COHORT_ASSIGN_OR_RETURN(const ZipArchive archive, ZipArchive::open(file));
  COHORT_ASSIGN_OR_RETURN(const std::string name, archive_name(archive));
  COHORT_RETURN_IF_ERROR(refuse_torchscript(archive, name));
  COHORT_RETURN_IF_ERROR(check_byte_order(archive, name));
  const ZipEntry& pickle = *archive.find(name + std::string(kPickleName));
  if (archive.has_checksums()) COHORT_RETURN_IF_ERROR(check_crc(pickle));
  ByteFeed feed(pickle.data);
  COHORT_ASSIGN_OR_RETURN(Unpickled unpickled, unpickle(feed, torch_globals()));
  TorchContent content{.root = std::move(unpickled.value), .storages = {}};
  for (const StorageKey& storage : unpickled.storages) {
    COHORT_ASSIGN_OR_RETURN(StorageBytes bytes, find_storage(archive, name, storage));
    content.storages.push_back(std::move(bytes));
  }
  return content;
}

}  // namespace cohort::interchange
