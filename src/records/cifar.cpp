#include "records/cifar.h"

#include "storage/path.h"
#include "storage/whole_file.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace cohort::records {
namespace {

constexpr std::uint64_t kImageBytes = 3 * 32 * 32;

/// One of the two sets.
struct Kind {
  std::string_view name;
  std::uint64_t label_bytes;  // before an image; the last one is the class
  std::int64_t num_classes;
};
constexpr Kind kKinds[] = {{"CIFAR-10", 1, 10}, {"CIFAR-100", 2, 100}};

/// The names that the files have in a folder.
struct FolderNames {
  std::vector<std::string> train;
  std::string test;
  std::string class_names;
};
const std::array<FolderNames, 2> kFolders = {
    FolderNames{
        {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
        "test_batch.bin",
        "batches.meta.txt"},
    FolderNames{{"train.bin"}, "test.bin", "fine_label_names.txt"}};

Result<std::string> if_there(FileSystem& fs, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const bool is_there, fs.exists(path));
  return is_there ? path : std::string();
}

// Empty if the folder has none of the files to train with.
Result<CifarFiles> files_in(FileSystem& fs, const std::string& folder, const FolderNames& names) {
  CifarFiles found;
  std::string missing;
  for (const std::string& name : names.train) {
    COHORT_ASSIGN_OR_RETURN(std::string path, if_there(fs, storage::joined(folder, name)));
    if (path.empty()) {
      if (missing.empty()) missing = name;
    } else {
      found.train.push_back(std::move(path));
    }
  }
  if (!found.train.empty() && !missing.empty()) {
    return Error(ErrorCode::kNotFound, fmt::format("'{}' has '{}', but not '{}'", folder,
                                                   storage::name_of(found.train.front()), missing))
        .with_remedy("Unpack the whole archive, or name one of the files.");
  }
  if (found.train.empty()) return found;
  COHORT_ASSIGN_OR_RETURN(const std::string test, if_there(fs, storage::joined(folder, names.test)));
  if (!test.empty()) found.test = {test};
  COHORT_ASSIGN_OR_RETURN(found.class_names, if_there(fs, storage::joined(folder, names.class_names)));
  return found;
}

Result<CifarFiles> files_of_folder(FileSystem& fs, const std::string& folder) {
  for (const FolderNames& names : kFolders) {
    COHORT_ASSIGN_OR_RETURN(CifarFiles found, files_in(fs, folder, names));
    if (!found.train.empty()) return found;
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("there is neither 'data_batch_1.bin' nor 'train.bin' in '{}'", folder))
      .with_remedy("Name the folder of the binary version of CIFAR-10 or CIFAR-100.");
}

Result<Kind> kind_of(const std::string& path, std::uint64_t size_bytes) {
  for (const Kind& kind : kKinds) {
    if (size_bytes > 0 && size_bytes % (kind.label_bytes + kImageBytes) == 0) return kind;
  }
  return Error(ErrorCode::kCorrupt,
               fmt::format(
                   "'{}' has {} bytes, expected a multiple of 3073 for CIFAR-10 or of 3074 for CIFAR-100",
                   path, size_bytes))
      .with_remedy("Take the binary version of the set, or get the file again.");
}

// Adds the classes of a file.
Status read_classes(const RowsOfFile& file, const Kind& kind, std::vector<std::int64_t>& classes) {
  const Rows labels(DType::kU8, {}, ByteOrder::kLittleEndian, {file});
  std::vector<std::byte> bytes(static_cast<std::size_t>(labels.size()));
  COHORT_RETURN_IF_ERROR(labels.read(0, bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    classes.push_back(std::to_integer<std::int64_t>(bytes[i]));
    if (classes.back() < kind.num_classes) continue;
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' has the class {} for image {}, expected 0 to {} for {}",
                             file.bytes->path(), classes.back(), i, kind.num_classes - 1, kind.name));
  }
  return {};
}

Result<std::vector<std::string>> read_names(FileSystem& fs, const std::string& path) {
  std::vector<std::string> names;
  if (path.empty()) return names;
  constexpr std::uint64_t kMostBytes = 1 << 20;
  COHORT_ASSIGN_OR_RETURN(const std::string text, read_file(fs, path, kMostBytes));
  std::string name;
  for (const char c : text + "\n") {
    if (c != '\n') {
      if (c != '\r') name += c;
    } else if (!name.empty()) {
      names.push_back(std::exchange(name, {}));
    }
  }
  return names;
}

}  // namespace

Result<CifarFiles> find_cifar(FileSystem& fs, const std::string& path, const std::string& test_path,
                              FolderTest folder_test) {
  COHORT_ASSIGN_OR_RETURN(const FileInfo info, fs.info(path));
  CifarFiles found{.train = {path}};
  if (info.kind == FileKind::kDirectory) {
    COHORT_ASSIGN_OR_RETURN(found, files_of_folder(fs, path));
  }
  if (folder_test == FolderTest::kLeftAside) found.test.clear();
  if (!test_path.empty()) found.test = {test_path};
  return found;
}

Result<LabelledImages> open_cifar(FileSystem& fs, const std::vector<std::string>& paths,
                                  const std::string& class_names) {
  LabelledImages opened{.image_shape = {3, 32, 32}};
  std::vector<RowsOfFile> images;
  std::optional<Kind> kind;
  for (const std::string& path : paths) {
    COHORT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBytes> bytes, open_file_bytes(fs, path));
    COHORT_ASSIGN_OR_RETURN(const Kind found, kind_of(path, bytes->size_bytes()));
    if (kind && kind->name != found.name) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("'{}' is {}, but '{}' is {}", path, found.name, paths.front(), kind->name));
    }
    kind = found;
    RowsOfFile file{.bytes = bytes,
                    .first_byte = found.label_bytes - 1,
                    .distance_bytes = found.label_bytes + kImageBytes,
                    .count = bytes->size_bytes() / (found.label_bytes + kImageBytes)};
    COHORT_RETURN_IF_ERROR(read_classes(file, found, opened.classes));
    ++file.first_byte;
    images.push_back(std::move(file));
  }
  opened.num_classes = kind->num_classes;
  opened.images = Rows(DType::kU8, {3, 32, 32}, ByteOrder::kLittleEndian, std::move(images));
  COHORT_ASSIGN_OR_RETURN(opened.class_names, read_names(fs, class_names));
  return opened;
}

}  // namespace cohort::records
