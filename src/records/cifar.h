#pragma once

#include "records/labelled_images.h"

namespace cohort::records {

/// The files of CIFAR-10 or CIFAR-100 in the binary version. Each record of a file is an image of 32 × 32
/// pixels:
///
///     CIFAR-10    class │ 1024 bytes of red │ green │ blue
///     CIFAR-100   superclass │ class │ red │ green │ blue
struct CifarFiles {
  std::vector<std::string> train{};
  std::vector<std::string> test{};
  std::string class_names{};  ///< a file with a name in each line; may be empty
};

/// Finds the files: those of a folder under their usual names, or one file. `test_path` is a file or empty;
/// then the test file of the folder is the test data, if it is to be used.
///
/// Failure: kNotFound, naming the files that a folder lacks.
Result<CifarFiles> find_cifar(FileSystem& fs, const std::string& path, const std::string& test_path,
                              FolderTest folder_test);

/// Opens images, in one or several files, and reads their classes. The size of the first file tells whether
/// it is CIFAR-10 or CIFAR-100.
///
/// Failure: kCorrupt, naming the file, if its size is not that of whole records, or if it has a class that
/// does not exist.
Result<LabelledImages> open_cifar(FileSystem& fs, const std::vector<std::string>& paths,
                                  const std::string& class_names);

}  // namespace cohort::records
