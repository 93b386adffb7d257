#include "data/openers.h"
#include "data/records_in_memory.h"
#include "records/idx.h"
#include "storage/path.h"

#include <algorithm>
#include <cohort/views.h>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace cohort::data {
namespace {

using records::IdxArray;

struct ImageFiles {
  std::string images{};
  std::string labels{};
};

/// Images and their classes, as in the files.
struct LabelledImages {
  IdxArray images{};
  std::vector<std::int64_t> classes{};
  std::vector<std::int64_t> image_shape{};

  std::int64_t count() const { return static_cast<std::int64_t>(classes.size()); }
};

// The path of the file, or of its gzip form with .gz appended.
Result<std::optional<std::string>> plain_or_packed(FileSystem& fs, const std::string& path) {
  for (const std::string& candidate : {path, path + ".gz"}) {
    COHORT_ASSIGN_OR_RETURN(const bool there, fs.exists(candidate));
    if (there) return candidate;
  }
  return std::nullopt;
}

// The two files of a part, "train" or "t10k", in a folder.
Result<std::optional<ImageFiles>> files_in(FileSystem& fs, const std::string& folder,
                                           const std::string& part) {
  COHORT_ASSIGN_OR_RETURN(const auto images,
                          plain_or_packed(fs, storage::joined(folder, part + "-images-idx3-ubyte")));
  COHORT_ASSIGN_OR_RETURN(const auto labels,
                          plain_or_packed(fs, storage::joined(folder, part + "-labels-idx1-ubyte")));
  if (!images && !labels) return std::nullopt;
  if (!images || !labels) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("'{}' has the {} of '{}' without the {}", folder, images ? "images" : "labels",
                             part, images ? "labels" : "images"));
  }
  return ImageFiles{*images, *labels};
}

// Replaces images by labels and idx3 by idx1 in the file's name. Either file may be compressed.
Result<ImageFiles> files_of(FileSystem& fs, const std::string& images) {
  std::string name = storage::name_of(images);
  const std::size_t word = name.find("images");
  if (word == std::string::npos) {
    return Error(ErrorCode::kUsage, fmt::format("'{}' does not tell where its labels are", images))
        .with_remedy("Name a folder, or files like train-images-idx3-ubyte beside train-labels-idx1-ubyte.");
  }
  name.replace(word, 6, "labels");
  const std::size_t dims = name.find("idx", word);
  if (dims != std::string::npos && dims + 3 < name.size()) name[dims + 3] = '1';
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::string path = storage::joined(storage::directory_of(images), name);
  COHORT_ASSIGN_OR_RETURN(const auto labels, plain_or_packed(fs, path));
  if (!labels) {
    return Error(ErrorCode::kNotFound, fmt::format("there is no '{}' with the labels of '{}'", path, images))
        .with_remedy("Put the file of labels beside that of images.");
  }
  return ImageFiles{images, *labels};
}

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

std::vector<float> floats(const IdxArray& array) {
  if (auto numbers = whole_numbers<float>(array)) return std::move(*numbers);
  if (array.dtype == DType::kF32) return converted<float, float>(array);
  const std::vector<double> wide = converted<double, double>(array);
  std::vector<float> narrow(wide.size());
  std::transform(wide.begin(), wide.end(), narrow.begin(), [](double x) { return static_cast<float>(x); });
  return narrow;
}

Result<std::vector<std::int64_t>> read_classes(FileSystem& fs, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const IdxArray array, records::read_idx(fs, path));
  auto classes = whole_numbers<std::int64_t>(array);
  if (array.shape.size() != 1 || !classes) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' holds {} dims of {}; labels are one dim of whole numbers", path,
                             array.shape.size(), name(array.dtype)));
  }
  for (std::size_t i = 0; i < classes->size(); ++i) {
    if ((*classes)[i] < 0) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("'{}' has the label {} for sample {}", path, (*classes)[i], i));
    }
  }
  return std::move(*classes);
}

Result<LabelledImages> read_images(FileSystem& fs, const ImageFiles& files) {
  LabelledImages read;
  COHORT_ASSIGN_OR_RETURN(read.images, records::read_idx(fs, files.images));
  COHORT_ASSIGN_OR_RETURN(read.classes, read_classes(fs, files.labels));
  const std::vector<std::uint64_t>& shape = read.images.shape;
  if (shape.size() < 2 || shape[0] != read.classes.size()) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' has {} samples in {} dims, '{}' {} labels", files.images, shape[0],
                             shape.size(), files.labels, read.classes.size()))
        .with_remedy("Check that the two files belong together.");
  }
  for (std::size_t dim = 1; dim < shape.size(); ++dim) {
    if (shape[dim] == 0) {
      return Error(ErrorCode::kCorrupt, fmt::format("'{}' has images without pixels", files.images));
    }
    read.image_shape.push_back(static_cast<std::int64_t>(shape[dim]));
  }
  if (read.image_shape.size() == 2) read.image_shape.insert(read.image_shape.begin(), 1);
  return read;
}

std::int64_t num_pixels(const LabelledImages& read) {
  std::int64_t pixels = 1;
  for (std::int64_t dim : read.image_shape) pixels *= dim;
  return pixels;
}

// Computed from the training samples alone.
Scale scale_for(const LabelledImages& read, std::int64_t num_train, const DataConfig& config) {
  const bool bytes = read.images.dtype == DType::kU8;
  if (!config.normalise) return {0, bytes ? 255.0 : 1.0};
  const auto count = static_cast<std::size_t>(num_train * num_pixels(read));
  if (bytes) return scale_of({reinterpret_cast<const unsigned char*>(read.images.content.data()), count});
  return scale_of(std::span<const float>(floats(read.images)).first(count));
}

std::shared_ptr<const Dataset> dataset_of(LabelledImages read, const Scale& scale) {
  if (read.images.dtype == DType::kU8) {
    return std::make_shared<ImageDataset>(
        ImageRecords{std::move(read.images.content), std::move(read.image_shape), std::move(read.classes)},
        scale);
  }
  TableRecords table{floats(read.images), std::move(read.image_shape), {}, TargetKind::kClass};
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

struct Sources {
  ImageFiles train{};
  std::optional<ImageFiles> test{};
};

// data.path is a folder with the usual file names, or the file of images.
Result<Sources> sources_of(FileSystem& fs, const DataConfig& config) {
  Sources sources;
  COHORT_ASSIGN_OR_RETURN(const FileInfo info, fs.info(config.path));
  if (info.kind == FileKind::kDirectory) {
    COHORT_ASSIGN_OR_RETURN(const auto train, files_in(fs, config.path, "train"));
    if (!train) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("there is no train-images-idx3-ubyte[.gz] in '{}'", config.path))
          .with_remedy("`dev/fetch-data mnist` fills such a folder.");
    }
    sources.train = *train;
    COHORT_ASSIGN_OR_RETURN(sources.test, files_in(fs, config.path, "t10k"));
  } else {
    COHORT_ASSIGN_OR_RETURN(sources.train, files_of(fs, config.path));
  }
  if (!config.test_path.empty()) {
    COHORT_ASSIGN_OR_RETURN(sources.test, files_of(fs, config.test_path));
  }
  return sources;
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

}  // namespace

Result<OpenedData> open_idx(FileSystem& fs, const DataConfig& config) {
  COHORT_ASSIGN_OR_RETURN(const Sources sources, sources_of(fs, config));
  COHORT_ASSIGN_OR_RETURN(LabelledImages train, read_images(fs, sources.train));
  if (train.count() == 0) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' has no images", sources.train.images));
  }
  if (sources.test) {
    COHORT_ASSIGN_OR_RETURN(LabelledImages test, read_images(fs, *sources.test));
    return with_own_test(std::move(train), std::move(test), config);
  }
  const std::int64_t count = train.count();
  COHORT_ASSIGN_OR_RETURN(const std::int64_t num_test, test_count(config, count));
  OpenedData opened;
  opened.facts = facts_of(train, num_classes(train));
  const Scale scale = scale_for(train, count - num_test, config);
  opened.source = source_of(train, scale);
  const std::shared_ptr<const Dataset> all = dataset_of(std::move(train), scale);
  opened.train = subset(all, 0, count - num_test);
  opened.test = subset(all, count - num_test, count);
  return opened;
}

}  // namespace cohort::data
