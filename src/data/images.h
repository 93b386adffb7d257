#pragma once

#include "data/batch_first.h"
#include "data/standardise.h"

#include <array>
#include <string>

namespace cohort::data {

/// Images as bytes, and their classes.
struct ImageRecords {
  std::string pixels{};                     ///< of all images, one after the other
  std::vector<std::int64_t> image_shape{};  ///< of one: channels, height, width
  std::vector<std::int64_t> classes{};
};

/// Images that stay bytes in memory and become f32 in a batch.
///
/// Cost: a byte per pixel; one look-up per pixel of a batch.
class ImageDataset final : public BatchFirst {
 public:
  /// `scale` is applied to bytes 0 … 255; {0, 255} maps them to 0 … 1.
  ImageDataset(ImageRecords records, Scale scale);

  std::int64_t size() const override { return static_cast<std::int64_t>(records_.classes.size()); }

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t at, const Batch& into) const override;

  const ImageRecords records_;
  std::int64_t pixels_per_image_ = 1;
  std::array<float, 256> value_{};
};

}  // namespace cohort::data
