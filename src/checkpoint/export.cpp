#include "checkpoint/export.h"

#include "checkpoint/json_fields.h"
#include "checkpoint/weight_index.h"
#include "state/safetensors_header.h"
#include "storage/path.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

namespace cohort::checkpoint {
namespace {

Result<std::string> header_of(const TensorList& tensors, const std::map<std::string, std::string>& metadata) {
  std::vector<state::TensorHead> heads;
  for (const WholeTensor* tensor : tensors) {
    heads.push_back({tensor->name, tensor->dtype, {tensor->shape.begin(), tensor->shape.end()}});
  }
  return state::make_header(heads, metadata);
}

Status write_file(const Export& to, const std::string& path, const TensorList& tensors) {
  COHORT_ASSIGN_OR_RETURN(const std::string header, header_of(tensors, metadata_of(to.course)));
  return write_file_atomically(to.files, path, [&](WritableFile& file) -> Status {
    COHORT_RETURN_IF_ERROR(file.append(std::as_bytes(std::span(header))));
    for (const WholeTensor* tensor : tensors) {
      COHORT_RETURN_IF_ERROR(
          to.from.stream(*tensor, [&](std::uint64_t, std::span<const std::byte> bytes) -> Status {
            to.report(bytes.size());
            return file.append(bytes);
          }));
    }
    return {};
  });
}

Status check_absent(const Export& to) {
  COHORT_ASSIGN_OR_RETURN(const bool exists, to.files.exists(to.path));
  if (!exists) return {};
  return Error(ErrorCode::kAlreadyExists, fmt::format("'{}' exists", to.path))
      .with_remedy("Remove it, or write to another path.");
}

std::string index_text(const std::vector<TensorList>& files) {
  Json weight_map = Json::object();
  std::uint64_t total_bytes = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const WholeTensor* tensor : files[i]) weight_map[tensor->name] = weight_file(i, files.size());
    total_bytes += size_bytes(files[i]);
  }
  return Json{{"metadata", {{"total_size", total_bytes}}}, {"weight_map", weight_map}}.dump(2) + "\n";
}

}  // namespace

std::string weight_file(std::size_t index, std::size_t count) {
  return fmt::format("model-{:05}-of-{:05}.safetensors", index + 1, count);
}

TensorList tensors_of(const WholeTensors& tensors, Part part) {
  TensorList list;
  for (const WholeTensor& tensor : tensors.all()) {
    if (part == Part::kAll || is_of_model(tensor.name)) list.push_back(&tensor);
  }
  return list;
}

std::uint64_t size_bytes(const TensorList& tensors) {
  std::uint64_t sum = 0;
  for (const WholeTensor* tensor : tensors) sum += tensor->size_bytes();
  return sum;
}

std::vector<TensorList> cut_into_files(const TensorList& tensors, std::uint64_t most_bytes) {
  std::vector<TensorList> files(1);
  std::uint64_t bytes = 0;
  for (const WholeTensor* tensor : tensors) {
    if (!files.back().empty() && bytes + tensor->size_bytes() > most_bytes) {
      files.emplace_back();
      bytes = 0;
    }
    files.back().push_back(tensor);
    bytes += tensor->size_bytes();
  }
  return files;
}

std::map<std::string, std::string> metadata_of(const Course& course) {
  std::map<std::string, std::string> metadata{{"format", "pt"},
                                              {"step", std::to_string(course.position.step)},
                                              {"epoch", std::to_string(course.position.epoch)}};
  for (const auto& [name, value] : course.settings) {
    if (name.starts_with("cohort.")) metadata[name] = value;
  }
  return metadata;
}

Status export_safetensors(const Export& to, const TensorList& tensors) {
  COHORT_RETURN_IF_ERROR(check_absent(to));
  return write_file(to, to.path, tensors).within(fmt::format("cannot write '{}'", to.path));
}

Status export_huggingface(const Export& to, const TensorList& tensors, std::uint64_t most_bytes) {
  COHORT_RETURN_IF_ERROR(check_absent(to));
  const std::vector<TensorList> files = cut_into_files(tensors, most_bytes);
  const auto write = [&]() -> Status {
    COHORT_RETURN_IF_ERROR(to.files.make_directories(to.path));
    for (std::size_t i = 0; i < files.size(); ++i) {
      COHORT_RETURN_IF_ERROR(
          write_file(to, storage::joined(to.path, weight_file(i, files.size())), files[i]));
    }
    const std::string index = index_text(files);
    return write_file_atomically(to.files, storage::joined(to.path, kIndexFile),
                                 std::as_bytes(std::span(index)));
  };
  return write().within(fmt::format("cannot write '{}'", to.path));
}

}  // namespace cohort::checkpoint
