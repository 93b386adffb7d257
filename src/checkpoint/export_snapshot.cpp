#include "checkpoint/export.h"
#include "checkpoint/shard_writer.h"
#include "checkpoint/snapshot_folder.h"
#include "checkpoint/weight_index.h"
#include "layout/slice.h"
#include "storage/path.h"
#include <cohort/version.h>

#include <fmt/format.h>

namespace cohort::checkpoint {
namespace {

/// The tensors of one file in memory.
class LoadedTensors {
 public:
  Status load(const Export& to, const TensorList& tensors) {
    for (const WholeTensor* tensor : tensors) {
      memory_.emplace_back(tensor->size_bytes());
      COHORT_RETURN_IF_ERROR(to.from.read(*tensor, 0, memory_.back()));
      pieces_.push_back({.name = tensor->name,
                         .dtype = tensor->dtype,
                         .shape = tensor->shape,
                         .mine = whole(tensor->shape),
                         .merge = tensor->merge,
                         .bytes = memory_.back()});
      to.report(memory_.back().size());
    }
    return {};
  }
  std::span<const Piece> pieces() const { return pieces_; }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<Piece> pieces_;
};

/// A file to write.
struct PlannedFile {
  std::string name{};
  TensorList tensors{};
};

std::vector<PlannedFile> plan_files(const WholeTensors& tensors, std::uint64_t most_bytes) {
  TensorList model, training;
  for (const WholeTensor& tensor : tensors.all()) {
    (is_of_model(tensor.name) ? model : training).push_back(&tensor);
  }
  std::vector<PlannedFile> files;
  const auto plan = [&](const TensorList& list, std::string_view kind) {
    if (list.empty()) return;
    const std::vector<TensorList> cut = cut_into_files(list, most_bytes);
    for (std::size_t i = 0; i < cut.size(); ++i) {
      files.push_back({fmt::format("{}-{:05}-of-{:05}.safetensors", kind, i + 1, cut.size()), cut[i]});
    }
  };
  plan(model, "model");
  plan(training, "training");
  return files;
}

Status write_files(const Export& to, const std::string& name, std::uint64_t most_bytes) {
  const std::string folder = writing_folder(to.path, name);
  COHORT_RETURN_IF_ERROR(to.files.make_directories(folder));
  Manifest manifest{.cohort_version = std::string(version()), .mesh = {{"data", 1}}, .course = to.course};
  for (const PlannedFile& file : plan_files(to.from, most_bytes)) {
    LoadedTensors loaded;
    COHORT_RETURN_IF_ERROR(loaded.load(to, file.tensors));
    COHORT_ASSIGN_OR_RETURN(Shard shard,
                            write_shard(to.files, folder, file.name, loaded.pieces(), Compression::kNone));
    manifest.shards.push_back(std::move(shard));
  }
  return commit_snapshot(to.files, to.path, name, manifest);
}

}  // namespace

Status export_snapshot(const Export& to, std::uint64_t most_bytes) {
  const std::string name = snapshot_name(to.course.position.step);
  COHORT_ASSIGN_OR_RETURN(const bool exists, to.files.exists(storage::joined(to.path, name)));
  if (exists) {
    return Error(ErrorCode::kAlreadyExists, fmt::format("'{}' has a snapshot '{}' already", to.path, name))
        .with_remedy("Write to another folder.");
  }
  const Status written = write_files(to, name, most_bytes);
  if (!written) (void)remove_unfinished(to.files, to.path, name);
  return written;
}

}  // namespace cohort::checkpoint
