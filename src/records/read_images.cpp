#include "records/labelled_images.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace cohort::records {
namespace {

template <class Number, class From>
std::vector<Number> converted(const IdxArray& array) {
  std::vector<From> from(array.count());
  if (!from.empty()) std::memcpy(from.data(), array.content.data(), array.content.size());
  return {from.begin(), from.end()};
}

template <class Number>
std::optional<std::vector<Number>> whole_numbers(const IdxArray& array) {
  switch (array.dtype) {
    case DType::kU8:
      return converted<Number, std::uint8_t>(array);
    case DType::kI8:
      return converted<Number, std::int8_t>(array);
    case DType::kI16:
      return converted<Number, std::int16_t>(array);
    case DType::kI32:
      return converted<Number, std::int32_t>(array);
    default:
      return std::nullopt;
  }
}

Result<std::vector<std::int64_t>> read_classes(FileSystem& fs, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const IdxArray array, read_idx(fs, path));
  auto classes = whole_numbers<std::int64_t>(array);
  if (array.shape.size() != 1 || !classes) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' holds {} dims of {}; labels are one dim of whole numbers", path,
                             array.shape.size(), name(array.dtype)));
  }
  for (std::size_t i = 0; i < classes->size(); ++i) {
    if ((*classes)[i] < 0) {
      return Error(ErrorCode::kCorrupt, fmt::format("'{}' has the label {} for sample {}, expected 0 or more",
                                                    path, (*classes)[i], i));
    }
  }
  return std::move(*classes);
}

}  // namespace

std::vector<float> floats_of(const IdxArray& array) {
  if (auto numbers = whole_numbers<float>(array)) return std::move(*numbers);
  if (array.dtype == DType::kF32) return converted<float, float>(array);
  const std::vector<double> wide = converted<double, double>(array);
  std::vector<float> narrow(wide.size());
  std::transform(wide.begin(), wide.end(), narrow.begin(), [](double x) { return static_cast<float>(x); });
  return narrow;
}

Result<LabelledImages> read_images(FileSystem& fs, const ImageFiles& files) {
  LabelledImages read;
  COHORT_ASSIGN_OR_RETURN(read.images, read_idx(fs, files.images));
  COHORT_ASSIGN_OR_RETURN(read.classes, read_classes(fs, files.labels));
  const std::vector<std::uint64_t>& shape = read.images.shape;
  if (shape.size() < 2 || shape[0] != read.classes.size()) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' has {} samples in {} dims, expected {} samples, one for each label of "
                             "'{}', in 2 or more dims",
                             files.images, shape[0], shape.size(), read.classes.size(), files.labels))
        .with_remedy("Check that the two files belong together.");
  }
  for (std::size_t dim = 1; dim < shape.size(); ++dim) {
    if (shape[dim] == 0) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("'{}': dim {} is 0, expected 1 or more pixels", files.images, dim));
    }
    read.image_shape.push_back(static_cast<std::int64_t>(shape[dim]));
  }
  if (read.image_shape.size() == 2) read.image_shape.insert(read.image_shape.begin(), 1);
  return read;
}

}  // namespace cohort::records
