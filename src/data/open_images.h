#pragma once

#include "data/openers.h"
#include "records/labelled_images.h"

#include <optional>

namespace cohort::data {

/// The images of a file, or several, to train and to test with.
struct ImageSets {
  records::LabelledImages train{};
  std::optional<records::LabelledImages> test{};  ///< not set: a part of the others
};

/// Failure: kUsage if the two sets do not fit together; else as Rows.
Result<OpenedData> opened_images(ImageSets sets, const DataConfig& config, std::uint64_t seed);

/// Whether the test files of a folder are used.
records::FolderTest folder_test_of(const DataConfig& config);

}  // namespace cohort::data
