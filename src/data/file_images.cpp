#include "data/file_images.h"

#include "base/check.h"

#include <ATen/ATen.h>

namespace cohort::data {

FileImages::FileImages(records::LabelledImages images, Scale scale)
    : images_(std::move(images)), scale_(scale) {
  COHORT_CHECK_EQ(images_.images.size(), images_.classes.size());
  for (int byte = 0; byte < 256; ++byte) value_of_byte_[static_cast<std::size_t>(byte)] = scale(byte);
}

Batch FileImages::allocate(std::int64_t count) const {
  std::vector<std::int64_t> shape{count};
  shape.insert(shape.end(), images_.image_shape.begin(), images_.image_shape.end());
  return {at::empty(shape, at::kFloat), at::empty({count}, at::kLong), {}};
}

void FileImages::write(std::int64_t index, std::int64_t row, const Batch& into) const {
  const records::Rows& images = images_.images;
  const std::size_t num_pixels = images.numbers_per_row();
  std::vector<std::byte> bytes(images.row_bytes());
  value_or_throw(images.read(static_cast<std::uint64_t>(index), bytes));
  float* const to = row_of<float>(into.input, row, static_cast<std::int64_t>(num_pixels));
  if (images.dtype() == DType::kU8) {
    for (std::size_t i = 0; i < num_pixels; ++i)
      to[i] = value_of_byte_[std::to_integer<std::size_t>(bytes[i])];
  } else {
    records::floats(images.dtype(), bytes, to);
    for (std::size_t i = 0; i < num_pixels; ++i) to[i] = scale_(to[i]);
  }
  *row_of<std::int64_t>(into.target, row, 1) = images_.classes[static_cast<std::size_t>(index)];
}

}  // namespace cohort::data
