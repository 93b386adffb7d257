#pragma once

#include "records/rows.h"

#include <optional>
#include <string>
#include <vector>

namespace cohort::records {

/// A file of images and the file of their labels.
struct ImageFiles {
  std::string images{};
  std::string labels{};
};

struct ImageSources {
  ImageFiles train{};
  std::optional<ImageFiles> test{};
};

/// The test files of a folder, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte: test data, or left aside.
enum class FolderTest { kUsed, kLeftAside };

/// Finds the files. `path` is a folder with the file names of MNIST, or a file of images; `test_path` is a
/// file of images or empty. Every file may have .gz appended to its name.
///
/// Failure: kNotFound, naming the file that is missing; kUsage if the name of a file of images does not tell
/// where its labels are.
Result<ImageSources> find_images(FileSystem& fs, const std::string& path, const std::string& test_path,
                                 FolderTest folder_test);

/// Images and their classes, as in the files.
struct LabelledImages {
  Rows images{};
  std::vector<std::int64_t> classes{};
  std::vector<std::int64_t> image_shape{};  ///< channels first; images of two dims get one channel
  /// If the format says so; otherwise all that occur.
  std::optional<std::int64_t> num_classes{};
  std::vector<std::string> class_names{};  ///< in the order of the classes; may be empty

  std::int64_t count() const { return static_cast<std::int64_t>(classes.size()); }
};

/// Opens the images and reads the classes.
///
/// Failure: kCorrupt, naming the files, if they do not belong together or hold no images and labels.
Result<LabelledImages> open_images(FileSystem& fs, const ImageFiles& files);

}  // namespace cohort::records
