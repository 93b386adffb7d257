#pragma once

#include "data/batch_first.h"
#include "data/standardise.h"
#include "records/labelled_images.h"

#include <array>

namespace cohort::data {

/// Images in files, which are read when a batch is made, as f32.
///
/// Lifetime: must not outlive the FileSystem.
/// Failure: throws what reading the file reports.
/// Cost: eight bytes of memory per image, for its class; a read of the file per image of a batch.
class FileImages final : public BatchFirst {
 public:
  /// `scale` is applied to every pixel; {0, 255} maps bytes to 0 … 1.
  FileImages(records::LabelledImages images, Scale scale);

  std::int64_t size() const override { return images_.count(); }

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t row, const Batch& into) const override;

  const records::LabelledImages images_;
  const Scale scale_;
  std::array<float, 256> value_of_byte_{};
};

}  // namespace cohort::data
