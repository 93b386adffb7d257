#include "interchange/dcp.h"

#include "interchange/input/printable.h"
#include "interchange/model_tensors.h"
#include "layout/slice.h"
#include "storage/path.h"

#include <fmt/ranges.h>

namespace cohort::interchange {
namespace {

Result<DcpMetadata> read_metadata(FileSystem& fs, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<ReadableFile> file, fs.open_read(path));
  COHORT_ASSIGN_OR_RETURN(const FileWindow window, FileWindow::whole(*file));
  ByteFeed feed(window);
  COHORT_ASSIGN_OR_RETURN(const Unpickled unpickled, unpickle(feed, dcp_globals()));
  return dcp_metadata_in(unpickled.value);
}

}  // namespace

Result<DcpDirectory> open_dcp(FileSystem& fs, const std::string& directory) {
  const std::string path = storage::joined(directory, ".metadata");
  Result<DcpMetadata> metadata = read_metadata(fs, path);
  if (metadata) return DcpDirectory(fs, directory, std::move(*metadata));
  return metadata.error().within(fmt::format("cannot read checkpoint metadata '{}'", path));
}

std::vector<std::string> DcpDirectory::value_names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : metadata_.values) names.push_back(name);
  return names;
}

Result<Value> DcpDirectory::value(const std::string& name) const {
  const auto found = metadata_.values.find(name);
  if (found == metadata_.values.end()) {
    return Error(ErrorCode::kNotFound, fmt::format("'{}' has no value '{}'", directory_, printable(name)));
  }
  COHORT_ASSIGN_OR_RETURN(const TorchFile file, open(found->second));
  return file.root();
}

Result<TorchFile> DcpDirectory::open(const DcpPlace& place) const {
  return open_torch_part(*fs_, storage::joined(directory_, place.file), place.offset, place.size_bytes);
}

DcpPieces::DcpPieces(const DcpDirectory& directory, const NameRules& rules) : directory_(directory) {
  std::map<std::string, int> files;
  for (const DcpTensor& tensor : directory.tensors()) {
    const std::string name = rules.apply(tensor.name).name;
    for (const DcpChunk& chunk : tensor.chunks) {
      const int number = files.try_emplace(chunk.place.file, static_cast<int>(files.size())).first->second;
      const std::size_t count = num_elements(chunk.box.lengths);
      add({.piece = {.name = name,
                     .dtype = tensor.dtype,
                     .shape = tensor.shape,
                     .mine = {.boxes = {chunk.box}, .first = 0, .count = count}},
           .holder = number,
           .hash = {}});
      chunks_.push_back({.tensor = &tensor, .chunk = &chunk});
    }
  }
}

Result<DcpPieces::Opened> DcpPieces::open(std::size_t index) const {
  const DcpTensor& expected = *chunks_[index].tensor;
  const DcpChunk& chunk = *chunks_[index].chunk;
  COHORT_ASSIGN_OR_RETURN(TorchFile file, directory_.open(chunk.place));
  const auto* const found = file.root().as<StoredTensor>();
  if (found != nullptr && found->dtype == expected.dtype && found->shape == chunk.box.lengths) {
    StoredTensor tensor = *found;
    return Opened{.index = index, .file = std::move(file), .tensor = std::move(tensor)};
  }
  return Error(ErrorCode::kCorrupt,
               fmt::format("the chunk at byte {} of '{}' is {}, expected a tensor of type {} and shape [{}]",
                           chunk.place.offset, chunk.place.file, kind_of(file.root()), name(expected.dtype),
                           fmt::join(chunk.box.lengths, ", ")));
}

Status DcpPieces::read_piece(std::size_t index, std::uint64_t first, std::span<std::byte> into) {
  if (!opened_ || opened_->index != index) {
    opened_.reset();
    COHORT_ASSIGN_OR_RETURN(Opened opened, open(index));
    opened_.emplace(std::move(opened));
  }
  return opened_->file.read(opened_->tensor, first, into);
}

}  // namespace cohort::interchange
