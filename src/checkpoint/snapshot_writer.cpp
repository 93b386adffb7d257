#include "checkpoint/snapshot_writer.h"

#include "checkpoint/snapshot_folder.h"
#include "checkpoint/weight_index.h"
#include "state/gather_lists.h"
#include "storage/path.h"
#include <cohort/version.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <set>

namespace cohort::checkpoint {
namespace {

// Ranks wait for the disks of the others for as long as these are alive.
constexpr std::chrono::hours kLongestWrite{24};

Result<std::vector<std::vector<Shard>>> decode_all(const std::vector<std::vector<std::byte>>& texts) {
  std::vector<std::vector<Shard>> all;
  for (const auto& text : texts) {
    COHORT_ASSIGN_OR_RETURN(auto shards,
                            decode_shards({reinterpret_cast<const char*>(text.data()), text.size()}));
    all.push_back(std::move(shards));
  }
  return all;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

int number_of_hosts(const Communicator& group) {
  const std::vector<int> hosts = group.hosts();
  return std::max(1, static_cast<int>(std::set<int>(hosts.begin(), hosts.end()).size()));
}

std::pair<std::vector<Piece>, std::vector<Piece>> parted(std::span<const Piece> pieces) {
  std::pair<std::vector<Piece>, std::vector<Piece>> parts;  // of the model, of the training
  for (const Piece& piece : pieces) (is_of_model(piece.name) ? parts.first : parts.second).push_back(piece);
  return parts;
}

Result<std::vector<Shard>> all_synced(std::vector<UnsyncedShard> written) {
  std::vector<Shard> shards;
  for (UnsyncedShard& each : written) {
    COHORT_ASSIGN_OR_RETURN(shards.emplace_back(), synced(std::move(each)));
  }
  return shards;
}

// The result of `work`, whose exceptions become errors: a rank that throws would leave the others waiting.
template <class Work>
auto caught(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::kExhausted, "there is no memory left");
  } catch (const std::exception& error) {
    return Error(ErrorCode::kBug, error.what());
  }
}

}  // namespace

// An exception in the midst of a call of all ranks ends the group.
void SnapshotWriter::write(std::span<const Piece> pieces, const Course& course, SaveReport& report) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    report.status = write_all(pieces, course, report);
  } catch (const std::exception& error) {
    report.status = Error(ErrorCode::kBug, error.what());
    group_.abort(report.status.error());
  }
  if (!report.status) base_.clear();
  report.write_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Every decision here is the same on all ranks: a failure of one of them is a failure of all.
Status SnapshotWriter::write_all(std::span<const Piece> pieces, const Course& course, SaveReport& report) {
  const std::string name = snapshot_name(course.position.step);
  const bool is_full = base_.empty() || num_since_base_ >= options_.full_every;
  if (is_full) base_.clear();
  const auto shards = caught([&] { return write_share(pieces, name); });
  Status done = state::agree(group_, shards ? Status() : Status(shards.error()), kLongestWrite);
  if (done) {
    auto manifest = gather_manifest(course, *shards);
    done = manifest ? Status() : Status(manifest.error());
    if (manifest) report.size_bytes = size_bytes(*manifest);
    if (manifest && group_.rank() == 0) {
      done = caught([&] { return commit(*manifest, name); });
    }
    done = state::agree(group_, done, kLongestWrite);
  }
  if (!done) {
    if (group_.rank() == 0) (void)remove_unfinished(files_, options_.folder, name);
    return done;
  }
  num_since_base_ = is_full ? 1 : num_since_base_ + 1;
  if (is_full) base_ = name;
  if (group_.rank() == 0) remove_old(report);
  return {};
}

Result<std::vector<Shard>> SnapshotWriter::write_share(std::span<const Piece> pieces,
                                                       const std::string& name) {
  if (!base_.empty()) return write_shards(changes_.since_base(pieces), name);
  if (options_.full_every > 1) changes_.set_base(pieces);
  return write_shards(pieces, name);
}

// The weights of a full snapshot are in files of their own, which readers of Hugging Face checkpoints find.
Result<std::vector<Shard>> SnapshotWriter::write_shards(std::span<const Piece> pieces,
                                                        const std::string& name) {
  const std::string folder = writing_folder(options_.folder, name);
  COHORT_RETURN_IF_ERROR(
      files_.make_directories(folder).within(fmt::format("cannot begin the snapshot '{}'", folder)));
  const std::string suffix = fmt::format("{:05}-of-{:05}.safetensors", group_.rank() + 1, group_.size());
  std::vector<UnsyncedShard> written;
  const auto write = [&](const char* kind, std::span<const Piece> part) -> Status {
    if (part.empty()) return {};
    COHORT_ASSIGN_OR_RETURN(
        written.emplace_back(),
        append_shard(files_, folder, fmt::format("{}-{}", kind, suffix), part, options_.compression));
    return {};
  };
  if (!base_.empty()) {
    COHORT_RETURN_IF_ERROR(write("changes", pieces));
    return all_synced(std::move(written));
  }
  const auto [model, training] = parted(pieces);
  COHORT_RETURN_IF_ERROR(write("model", model));
  COHORT_RETURN_IF_ERROR(write("training", training));
  return all_synced(std::move(written));
}

Status SnapshotWriter::commit(const Manifest& manifest, const std::string& name) {
  COHORT_RETURN_IF_ERROR(commit_snapshot(files_, options_.folder, name, manifest));
  if (manifest.kind == SnapshotKind::kFull && options_.full_every > 1) base_hash_ = hash_of(manifest);
  return {};
}

Result<Manifest> SnapshotWriter::gather_manifest(const Course& course, const std::vector<Shard>& mine) {
  COHORT_ASSIGN_OR_RETURN(const auto texts,
                          state::gather_lists(group_, bytes_of(encode_shards(mine)), kLongestWrite));
  COHORT_ASSIGN_OR_RETURN(auto shards, decode_all(texts));
  Manifest manifest{.cohort_version = std::string(version()),
                    .kind = base_.empty() ? SnapshotKind::kFull : SnapshotKind::kDifference,
                    .base = base_,
                    .base_hash = base_.empty() ? 0 : base_hash_,
                    .ranks = group_.size(),
                    .hosts = number_of_hosts(group_),
                    .mesh = {{"data", group_.size()}},
                    .course = course};
  for (auto& each : shards) std::move(each.begin(), each.end(), std::back_inserter(manifest.shards));
  return manifest;
}

// A snapshot that is damaged, or of a later version, is left alone: somebody may want to look at it. After
// any other failure nothing is known about its base, so no snapshot is removed.
Result<std::vector<Kept>> SnapshotWriter::present() {
  std::vector<Kept> all;
  COHORT_ASSIGN_OR_RETURN(const auto names, list_snapshots(files_, options_.folder));
  for (const std::string& name : names) {
    const auto manifest = read_manifest(files_, storage::joined(options_.folder, name));
    const auto code = manifest ? std::nullopt : std::optional(manifest.error().code());
    if (code == ErrorCode::kCorrupt || code == ErrorCode::kNotFound || code == ErrorCode::kUnsupported) {
      continue;
    }
    COHORT_RETURN_IF_ERROR(manifest);
    all.push_back(
        {.name = name, .step = *step_of(name), .loss = manifest->course.loss, .base = manifest->base});
  }
  return all;
}

// The next difference needs `base_`. After a failure nothing more is removed: the base of a difference that
// could not be removed comes after it.
void SnapshotWriter::remove_old(SaveReport& report) {
  const auto all = present();
  if (!all) report.removal = all.error();
  if (!all) return;
  for (const std::string& name : expendable(*all, options_.retention)) {
    if (name == base_) continue;
    report.removal = remove_snapshot(files_, options_.folder, name);
    if (!report.removal) return;
    report.removed.push_back(name);
  }
}

}  // namespace cohort::checkpoint
