#include "records/idx.h"
#include "records/labelled_images.h"

#include <fmt/format.h>

namespace cohort::records {
namespace {

bool is_whole(DType dtype) {
  return !is_floating(dtype);
}

Result<std::vector<std::int64_t>> read_classes(FileSystem& fs, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const Rows labels, open_idx(fs, path));
  if (!labels.shape().empty() || !is_whole(labels.dtype())) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' holds {} dims of {}; labels are one dim of whole numbers", path,
                             labels.shape().size() + 1, name(labels.dtype())));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(labels.size()) * labels.row_bytes());
  COHORT_RETURN_IF_ERROR(labels.read(0, bytes));
  std::vector<std::int64_t> classes(static_cast<std::size_t>(labels.size()));
  whole_numbers(labels.dtype(), bytes, classes.data());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] < 0) {
      return Error(ErrorCode::kCorrupt, fmt::format("'{}' has the label {} for sample {}, expected 0 or more",
                                                    path, classes[i], i));
    }
  }
  return classes;
}

}  // namespace

Result<LabelledImages> open_images(FileSystem& fs, const ImageFiles& files) {
  LabelledImages opened;
  COHORT_ASSIGN_OR_RETURN(opened.images, open_idx(fs, files.images));
  COHORT_ASSIGN_OR_RETURN(opened.classes, read_classes(fs, files.labels));
  const Shape& shape = opened.images.shape();
  if (shape.empty() || opened.images.size() != opened.classes.size()) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' has {} samples in {} dims, expected {} samples, one for each label of "
                             "'{}', in 2 or more dims",
                             files.images, opened.images.size(), shape.size() + 1, opened.classes.size(),
                             files.labels))
        .with_remedy("Check that the two files belong together.");
  }
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 0) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("'{}': dim {} is 0, expected 1 or more pixels", files.images, dim + 1));
    }
    opened.image_shape.push_back(static_cast<std::int64_t>(shape[dim]));
  }
  if (opened.image_shape.size() == 2) opened.image_shape.insert(opened.image_shape.begin(), 1);
  return opened;
}

}  // namespace cohort::records
