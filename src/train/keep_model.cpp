#include "train/keep_model.h"

#include "state/model_facts.h"
#include "storage/path.h"
#include "train/model_file.h"

#include <filesystem>
#include <fmt/format.h>

namespace cohort::train {
namespace {

using Metadata = std::map<std::string, std::string>;

std::string free_name(FileSystem& files, const std::string& folder, const std::string& name) {
  const std::filesystem::path plain(name);
  std::string path = storage::joined(folder, fmt::format("rescued-{}", name));
  for (int number = 2; files.exists(path).value_or(false); ++number) {
    path = storage::joined(
        folder, fmt::format("rescued-{}-{}{}", plain.stem().string(), number, plain.extension().string()));
  }
  return path;
}

std::string absolute_path(const std::string& path) {
  std::error_code failure;
  const auto whole = std::filesystem::absolute(path, failure);
  return failure ? path : whole.lexically_normal().string();
}

Error rescued(FileSystem& files, const Error& cause, const ModelPlaces& places, const ModuleTensors& tensors,
              const Metadata& metadata) {
  for (const std::string& folder : places.refuges) {
    const std::string path = free_name(files, folder, storage::name_of(places.path));
    if (!write_model(files, path, tensors, metadata)) continue;
    return cause
        .within(fmt::format("the trained model is in '{}', because '{}' could not be written",
                            absolute_path(path), places.path))
        .with_remedy("Move the file to a safe place; see to free space and to the rights of the folder.");
  }
  return cause.within(
      fmt::format("the trained model is lost: '{}' could not be written, nor any of the "
                  "{} folders tried instead",
                  places.path, places.refuges.size()));
}

}  // namespace

Status keep_model(FileSystem& files, const ModelPlaces& places, const ModuleTensors& tensors,
                  const ModelFacts& facts) {
  COHORT_ASSIGN_OR_RETURN(const Metadata metadata, state::metadata_of(facts));
  if (write_model(files, places.path, tensors, metadata)) return {};
  Status again = files.make_directories(storage::directory_of(places.path));
  if (again) again = write_model(files, places.path, tensors, metadata);
  if (again) return {};
  return rescued(files, again.error(), places, tensors, metadata);
}

}  // namespace cohort::train
