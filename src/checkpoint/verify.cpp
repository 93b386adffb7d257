#include "checkpoint/verify.h"

#include "checkpoint/json_fields.h"
#include "checkpoint/snapshot_folder.h"
#include "checkpoint/weight_index.h"
#include "layout/slice.h"
#include "storage/path.h"
#include "storage/whole_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::checkpoint {
namespace {

/// The pieces of the tensors of a snapshot, by name.
using Parts = std::map<std::string, std::vector<const Piece*>>;

void add_parts(const Manifest& manifest, Parts& parts) {
  for (const Shard& shard : manifest.shards) {
    for (const StoredPiece& stored : shard.pieces) parts[stored.piece.name].push_back(&stored.piece);
  }
}

std::string about(const Piece& piece) {
  return fmt::format("{} [{}]", name(piece.dtype), fmt::join(piece.shape, ", "));
}

// The reason why the parts of a tensor do not make a whole one; empty if they do.
std::string incompleteness(const std::vector<const Piece*>& parts) {
  std::vector<Slice> slices;
  for (const Piece* part : parts) {
    if (about(*part) != about(*parts.front())) {
      return fmt::format("a part of it is of {}, expected {}", about(*part), about(*parts.front()));
    }
    slices.push_back(part->mine);
  }
  const Cover covered = cover(slices, whole(parts.front()->shape));
  if (covered.missing.empty()) return "";
  const Gap& gap = covered.missing.front();
  return fmt::format("no file has its elements {} … {}", gap.first, gap.first + gap.count - 1);
}

void check_complete(const Parts& parts, std::vector<Damage>& damaged) {
  for (const auto& [name, pieces] : parts) {
    std::string reason = incompleteness(pieces);
    if (reason.empty()) continue;
    damaged.push_back({.file = std::string(kManifestFile), .tensor = name, .reason = std::move(reason)});
  }
}

Damage of_manifest(std::string reason) {
  return {.file = std::string(kManifestFile), .reason = std::move(reason)};
}

}  // namespace

std::vector<Damage> Verifier::verify(const std::string& name) {
  const Checked& own = checked(name);
  std::vector<Damage> damaged = own.damaged;
  if (!own.has_manifest) return damaged;
  Parts parts;
  add_parts(own.manifest, parts);
  if (own.manifest.kind == SnapshotKind::kDifference) {
    const Checked& base = checked(own.manifest.base);
    for (Damage damage : base.damaged) {
      damage.file = fmt::format("../{}/{}", own.manifest.base, damage.file);
      damaged.push_back(std::move(damage));
    }
    if (!base.has_manifest) return damaged;
    if (base.manifest.kind != SnapshotKind::kFull) {
      damaged.push_back(of_manifest(
          fmt::format("its base '{}' is a difference, expected a full snapshot", own.manifest.base)));
    }
    if (base.manifest.hash != own.manifest.base_hash) {
      damaged.push_back(of_manifest(
          fmt::format("field 'base_hash' is {}, expected that of the manifest of '{}', {}",
                      hash_text(own.manifest.base_hash), own.manifest.base, hash_text(base.manifest.hash))));
    }
    add_parts(base.manifest, parts);
  }
  check_complete(parts, damaged);
  return damaged;
}

const Verifier::Checked& Verifier::checked(const std::string& name) {
  const auto [found, is_new] = checked_.try_emplace(name);
  if (is_new) check(name, found->second);
  return found->second;
}

void Verifier::check(const std::string& name, Checked& into) {
  const std::string path = storage::joined(folder_, name);
  auto manifest = read_manifest(files_, path);
  if (!manifest) {
    into.damaged.push_back(of_manifest(manifest.error().root().message()));
    return;
  }
  into.manifest = std::move(*manifest);
  into.has_manifest = true;
  const std::int64_t step = into.manifest.course.position.step;
  if (step_of(name).value_or(step) != step) {
    into.damaged.push_back(of_manifest(fmt::format(
        "field 'course.position.step' is {}, expected that of the folder's name, {}", step, *step_of(name))));
  }
  for (const Shard& shard : into.manifest.shards) {
    auto damaged = verify_shard(files_, storage::joined(path, shard.file), shard, report_);
    std::move(damaged.begin(), damaged.end(), std::back_inserter(into.damaged));
  }
  check_index(path, into);
}

// Readers of other programs go by the index, which the manifest has no hash of.
void Verifier::check_index(const std::string& path, Checked& into) {
  const std::string expected = weight_index(into.manifest);
  if (expected.empty()) return;
  const auto found = read_file(files_, storage::joined(path, kIndexFile));
  const auto note = [&](std::string reason) {
    into.damaged.push_back({.file = std::string(kIndexFile), .reason = std::move(reason)});
  };
  if (!found) return note(found.error().root().message());
  const Json json = Json::parse(*found, nullptr, /*allow_exceptions=*/false);
  // A text that is not JSON compares as equal to everything.
  if (json.is_discarded() || json != Json::parse(expected)) note("it says other things than the manifest");
}

}  // namespace cohort::checkpoint
