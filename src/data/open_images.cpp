#include "data/open_images.h"

#include "data/file_images.h"
#include "data/standardise_rows.h"

#include <algorithm>
#include <cohort/views.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::data {
namespace {

using records::LabelledImages;

bool has_bytes(const LabelledImages& images) {
  return images.images.dtype() == DType::kU8;
}

// Computed from the training samples alone.
Result<Scale> scale_for(const LabelledImages& images, const std::vector<bool>& is_test,
                        const DataConfig& config) {
  if (!config.normalize) return Scale{0, has_bytes(images) ? 255.0 : 1.0};
  return scale_of(images.images, is_test);
}

std::int64_t num_classes(const LabelledImages& images) {
  const auto& classes = images.classes;
  if (images.num_classes) return *images.num_classes;
  return classes.empty() ? 0 : *std::max_element(classes.begin(), classes.end()) + 1;
}

DataFacts facts_of(const LabelledImages& images, std::int64_t classes) {
  return {
      .input_shape = images.image_shape,
      .classes = classes,
      .outputs = classes,
      .description = fmt::format("images of {}, {} classes", fmt::join(images.image_shape, " × "), classes)};
}

SourceFacts source_of(const LabelledImages& images, const Scale& scale) {
  SourceFacts source{.scales = {scale}};
  if (has_bytes(images)) source.white = 255;
  return source;
}

Result<OpenedData> with_own_test(ImageSets sets, const DataConfig& config) {
  LabelledImages& train = sets.train;
  LabelledImages& test = *sets.test;
  if (train.image_shape != test.image_shape || train.images.dtype() != test.images.dtype()) {
    return Error(ErrorCode::kUsage, "the images to test on have another shape or type than those to train on")
        .with_remedy("Check data.path and data.test_path.");
  }
  OpenedData opened;
  opened.facts = facts_of(train, std::max(num_classes(train), num_classes(test)));
  COHORT_ASSIGN_OR_RETURN(const Scale scale, scale_for(train, {}, config));
  opened.source = source_of(train, scale);
  opened.vocabulary = train.class_names;
  opened.train = std::make_shared<FileImages>(std::move(train), scale);
  opened.test = std::make_shared<FileImages>(std::move(test), scale);
  return opened;
}

std::vector<std::int64_t> numbers_of(const std::vector<bool>& is_chosen, bool wanted) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < is_chosen.size(); ++i) {
    if (is_chosen[i] == wanted) numbers.push_back(static_cast<std::int64_t>(i));
  }
  return numbers;
}

}  // namespace

Result<OpenedData> opened_images(ImageSets sets, const DataConfig& config, std::uint64_t seed) {
  if (sets.test) return with_own_test(std::move(sets), config);
  LabelledImages& images = sets.train;
  COHORT_ASSIGN_OR_RETURN(const TestSplit split, split_of(config, seed));
  const auto is_test = choose_test_samples(split, images.classes.size(), images.classes);
  COHORT_ASSIGN_OR_RETURN(const Scale scale, scale_for(images, is_test, config));
  OpenedData opened;
  opened.facts = facts_of(images, num_classes(images));
  opened.source = source_of(images, scale);
  opened.vocabulary = images.class_names;
  const std::shared_ptr<const Dataset> all = std::make_shared<FileImages>(std::move(images), scale);
  opened.train = select(all, numbers_of(is_test, false));
  opened.test = select(all, numbers_of(is_test, true));
  return opened;
}

records::FolderTest folder_test_of(const DataConfig& config) {
  return asks_for_split(config) ? records::FolderTest::kLeftAside : records::FolderTest::kUsed;
}

}  // namespace cohort::data
