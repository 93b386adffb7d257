#include "data/openers.h"
#include "data/records_in_memory.h"
#include "records/labelled_images.h"

#include <algorithm>
#include <cohort/views.h>
#include <fmt/format.h>
#include <optional>

namespace cohort::data {
namespace {

using records::LabelledImages;

std::int64_t num_pixels(const LabelledImages& read) {
  std::int64_t pixels = 1;
  for (std::int64_t dim : read.image_shape) pixels *= dim;
  return pixels;
}

// Computed from the training samples alone.
Scale scale_for(const LabelledImages& read, std::int64_t num_train, const DataConfig& config) {
  const bool bytes = read.images.dtype == DType::kU8;
  if (!config.normalize) return {0, bytes ? 255.0 : 1.0};
  const auto count = static_cast<std::size_t>(num_train * num_pixels(read));
  if (bytes) return scale_of({reinterpret_cast<const unsigned char*>(read.images.content.data()), count});
  return scale_of(std::span<const float>(records::floats_of(read.images)).first(count));
}

std::shared_ptr<const Dataset> dataset_of(LabelledImages read, const Scale& scale) {
  if (read.images.dtype == DType::kU8) {
    return std::make_shared<ImageDataset>(
        ImageRecords{std::move(read.images.content), std::move(read.image_shape), std::move(read.classes)},
        scale);
  }
  TableRecords table{records::floats_of(read.images), std::move(read.image_shape), {}, TargetKind::kClass};
  for (float& number : table.inputs) number = scale(number);
  for (std::int64_t c : read.classes) table.targets.push_back(static_cast<float>(c));
  return std::make_shared<TableDataset>(std::move(table));
}

std::int64_t num_classes(const LabelledImages& read) {
  return read.classes.empty() ? 0 : *std::max_element(read.classes.begin(), read.classes.end()) + 1;
}

DataFacts facts_of(const LabelledImages& read, std::int64_t classes) {
  std::string shape;
  for (std::int64_t dim : read.image_shape) shape += (shape.empty() ? "" : " × ") + std::to_string(dim);
  return {.input_shape = read.image_shape,
          .classes = classes,
          .outputs = classes,
          .description = fmt::format("images of {}, {} classes", shape, classes)};
}

SourceFacts source_of(const LabelledImages& read, const Scale& scale) {
  SourceFacts source{.scales = {scale}};
  if (read.images.dtype == DType::kU8) source.white = 255;
  return source;
}

Result<OpenedData> with_own_test(LabelledImages train, LabelledImages test, const DataConfig& config) {
  if (train.image_shape != test.image_shape || train.images.dtype != test.images.dtype) {
    return Error(ErrorCode::kUsage, "the images to test on have another shape or type than those to train on")
        .with_remedy("Check data.path and data.test_path.");
  }
  OpenedData opened;
  opened.facts = facts_of(train, std::max(num_classes(train), num_classes(test)));
  const Scale scale = scale_for(train, train.count(), config);
  opened.source = source_of(train, scale);
  opened.train = dataset_of(std::move(train), scale);
  opened.test = dataset_of(std::move(test), scale);
  return opened;
}

// Moves the images of the test data behind the others and returns the number of the others.
std::int64_t move_test_images(LabelledImages& read, const TestSplit& split) {
  const auto is_test = choose_test_samples(split, read.classes.size(), read.classes);
  move_to_end(read.images.content, read.images.content.size() / read.classes.size(), is_test);
  move_to_end(read.classes, 1, is_test);
  return std::count(is_test.begin(), is_test.end(), false);
}

}  // namespace

Result<OpenedData> open_idx(FileSystem& fs, const DataConfig& config, std::uint64_t seed) {
  const auto folder_test =
      asks_for_split(config) ? records::FolderTest::kLeftAside : records::FolderTest::kUsed;
  COHORT_ASSIGN_OR_RETURN(const records::ImageSources sources,
                          find_images(fs, config.path, config.test_path, folder_test));
  COHORT_ASSIGN_OR_RETURN(LabelledImages train, read_images(fs, sources.train));
  if (train.count() == 0) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' has no images", sources.train.images));
  }
  if (sources.test) {
    COHORT_ASSIGN_OR_RETURN(LabelledImages test, read_images(fs, *sources.test));
    return with_own_test(std::move(train), std::move(test), config);
  }
  COHORT_ASSIGN_OR_RETURN(const TestSplit split, split_of(config, seed));
  const std::int64_t num_train = move_test_images(train, split);
  OpenedData opened;
  opened.facts = facts_of(train, num_classes(train));
  const Scale scale = scale_for(train, num_train, config);
  opened.source = source_of(train, scale);
  const std::shared_ptr<const Dataset> all = dataset_of(std::move(train), scale);
  opened.train = subset(all, 0, num_train);
  opened.test = subset(all, num_train, all->size());
  return opened;
}

}  // namespace cohort::data
