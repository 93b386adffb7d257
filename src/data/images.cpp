#include "data/images.h"

#include "base/check.h"

#include <ATen/ATen.h>

namespace cohort::data {

ImageDataset::ImageDataset(ImageRecords records, Scale scale) : records_(std::move(records)) {
  for (std::int64_t dim : records_.image_shape) pixels_per_image_ *= dim;
  COHORT_CHECK_EQ(records_.pixels.size(),
                  records_.classes.size() * static_cast<std::size_t>(pixels_per_image_));
  for (int byte = 0; byte < 256; ++byte) value_[static_cast<std::size_t>(byte)] = scale(byte);
}

Batch ImageDataset::allocate(std::int64_t count) const {
  std::vector<std::int64_t> shape{count};
  shape.insert(shape.end(), records_.image_shape.begin(), records_.image_shape.end());
  return {at::empty(shape, at::kFloat), at::empty({count}, at::kLong), {}};
}

void ImageDataset::write(std::int64_t index, std::int64_t at, const Batch& into) const {
  const auto* from =
      reinterpret_cast<const unsigned char*>(records_.pixels.data()) + index * pixels_per_image_;
  auto* to = place_in<float>(into.input, at, pixels_per_image_);
  for (std::int64_t i = 0; i < pixels_per_image_; ++i) to[i] = value_[from[i]];
  *place_in<std::int64_t>(into.target, at, 1) = records_.classes[static_cast<std::size_t>(index)];
}

}  // namespace cohort::data
