#include "checkpoint/weight_index.h"

#include "checkpoint/json_fields.h"
#include "layout/slice.h"

#include <map>

namespace cohort::checkpoint {

bool is_of_model(std::string_view name) {
  return name.find('/') == std::string_view::npos;
}

bool is_of_post_steps(std::string_view name) {
  return name.ends_with("/average") || name.ends_with("/mask") || name.starts_with("average/");
}

std::string weight_index(const Manifest& manifest) {
  if (manifest.kind != SnapshotKind::kFull) return "";
  std::map<std::string, std::string> files;
  std::uint64_t total_bytes = 0;
  for (const Shard& shard : manifest.shards) {
    for (const StoredPiece& stored : shard.pieces) {
      if (!is_of_model(stored.piece.name)) continue;
      const bool is_readable =
          stored.encoding == Encoding::kPlain && stored.piece.mine == whole(stored.piece.shape);
      if (!is_readable) return "";
      files[stored.piece.name] = shard.file;
      total_bytes += stored.size_bytes;
    }
  }
  if (files.empty()) return "";
  return Json{{"metadata", {{"total_size", total_bytes}}}, {"weight_map", files}}.dump(2) + "\n";
}

}  // namespace cohort::checkpoint
