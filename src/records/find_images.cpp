#include "records/labelled_images.h"
#include "storage/path.h"

#include <fmt/format.h>

namespace cohort::records {
namespace {

// The path of the file, or of its gzip form with .gz appended.
Result<std::optional<std::string>> plain_or_packed(FileSystem& fs, const std::string& path) {
  for (const std::string& candidate : {path, path + ".gz"}) {
    COHORT_ASSIGN_OR_RETURN(const bool there, fs.exists(candidate));
    if (there) return candidate;
  }
  return std::nullopt;
}

// The two files of a part, "train" or "t10k", in a folder.
Result<std::optional<ImageFiles>> files_in(FileSystem& fs, const std::string& folder,
                                           const std::string& part) {
  COHORT_ASSIGN_OR_RETURN(const auto images,
                          plain_or_packed(fs, storage::joined(folder, part + "-images-idx3-ubyte")));
  COHORT_ASSIGN_OR_RETURN(const auto labels,
                          plain_or_packed(fs, storage::joined(folder, part + "-labels-idx1-ubyte")));
  if (!images && !labels) return std::nullopt;
  if (!images || !labels) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("'{}' has the {} of '{}' without the {}", folder, images ? "images" : "labels",
                             part, images ? "labels" : "images"));
  }
  return ImageFiles{*images, *labels};
}

// Replaces images by labels and idx3 by idx1 in the file's name. Either file may be compressed.
Result<ImageFiles> files_of(FileSystem& fs, const std::string& images) {
  std::string name = storage::name_of(images);
  const std::size_t word = name.find("images");
  if (word == std::string::npos) {
    return Error(ErrorCode::kUsage, fmt::format("'{}' does not tell where its labels are", images))
        .with_remedy("Name a folder, or files like train-images-idx3-ubyte beside train-labels-idx1-ubyte.");
  }
  name.replace(word, 6, "labels");
  const std::size_t dims = name.find("idx", word);
  if (dims != std::string::npos && dims + 3 < name.size()) name[dims + 3] = '1';
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::string path = storage::joined(storage::directory_of(images), name);
  COHORT_ASSIGN_OR_RETURN(const auto labels, plain_or_packed(fs, path));
  if (!labels) {
    return Error(ErrorCode::kNotFound, fmt::format("there is no '{}' with the labels of '{}'", path, images))
        .with_remedy("Put the file of labels beside that of images.");
  }
  return ImageFiles{images, *labels};
}

}  // namespace

Result<ImageSources> find_images(FileSystem& fs, const std::string& path, const std::string& test_path,
                                 FolderTest folder_test) {
  ImageSources sources;
  COHORT_ASSIGN_OR_RETURN(const FileInfo info, fs.info(path));
  if (info.kind == FileKind::kDirectory) {
    COHORT_ASSIGN_OR_RETURN(const auto train, files_in(fs, path, "train"));
    if (!train) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("there is no train-images-idx3-ubyte[.gz] in '{}'", path))
          .with_remedy("`dev/fetch-data mnist` fills such a folder.");
    }
    sources.train = *train;
    if (folder_test == FolderTest::kUsed) {
      COHORT_ASSIGN_OR_RETURN(sources.test, files_in(fs, path, "t10k"));
    }
  } else {
    COHORT_ASSIGN_OR_RETURN(sources.train, files_of(fs, path));
  }
  if (!test_path.empty()) {
    COHORT_ASSIGN_OR_RETURN(sources.test, files_of(fs, test_path));
  }
  return sources;
}

}  // namespace cohort::records
