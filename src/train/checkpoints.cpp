#include "train/checkpoints.h"

#include "checkpoint/snapshot_folder.h"
#include "state/gather_lists.h"
#include "state/run_directory.h"
#include "storage/path.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::train {
namespace {

checkpoint::SaverOptions saver_options(const CheckpointOptions& options, const std::string& folder) {
  return {.folder = folder,
          .writing = options.background ? checkpoint::Writing::kBehind : checkpoint::Writing::kAtOnce,
          .compression = options.compress ? checkpoint::Compression::kZstd : checkpoint::Compression::kNone,
          .retention = {.last = options.keep_last, .best = options.keep_best, .every = options.keep_every},
          .full_every = options.full_every};
}

Error unlike(const std::string& what, const std::string& saved, const std::string& now) {
  return Error(ErrorCode::kUsage,
               fmt::format("it was written in the middle of an epoch with {} = {}, and now {} = {}", what, saved,
                           what, now))
      .with_remedy(fmt::format("Set {} to {}, or go on from a snapshot at the end of an epoch.", what, saved));
}

// In the middle of an epoch the samples that are left follow from the settings with which it began.
Status check_course(const checkpoint::Course& saved, const checkpoint::Course& now) {
  if (saved.position.step_in_epoch == 0) return {};
  const auto compare = [](const std::string& what, std::int64_t a, std::int64_t b) -> Status {
    return a == b ? Status() : Status(unlike(what, fmt::format("{}", a), fmt::format("{}", b)));
  };
  COHORT_RETURN_IF_ERROR(compare("the number of samples", saved.ledger.samples, now.ledger.samples));
  COHORT_RETURN_IF_ERROR(
      compare("TrainerOptions::batch_size", saved.ledger.batch_size, now.ledger.batch_size));
  for (const auto& [key, value] : now.settings) {
    const auto found = saved.settings.find(key);
    const std::string before = found == saved.settings.end() ? "not set" : found->second;
    if (before != value) return unlike("TrainerOptions::" + key, before, value);
  }
  return {};
}

Status check_order(const std::vector<std::int64_t>& order, std::size_t num_parameters) {
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool fits = sorted.size() == num_parameters;
  for (std::size_t p = 0; fits && p < num_parameters; ++p) fits = sorted[p] == static_cast<std::int64_t>(p);
  if (fits) return {};
  return Error(ErrorCode::kUsage, fmt::format("it has {} parameters that are trained, and this model {}",
                                              order.size(), num_parameters))
      .with_remedy("Go on with the same model and the same frozen groups.");
}

}  // namespace

std::string checkpoint_folder(const TrainerOptions& options) {
  if (options.checkpoint && !options.checkpoint->directory.empty()) return options.checkpoint->directory;
  return options.directory.empty() ? "" : storage::joined(options.directory, kCheckpoints);
}

Checkpoints::Checkpoints(Communicator& group, Replica& replica, const TrainerOptions& options)
    : group_(group), replica_(replica), options_(options), folder_(checkpoint_folder(options)) {}

// A path is that of a snapshot if its last part is the name of one.
checkpoint::RestoreOrder Checkpoints::order() const {
  std::string path = options_.resume->empty() ? folder_ : *options_.resume;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::string name = storage::name_of(path);
  if (checkpoint::step_of(name)) return {.folder = storage::directory_of(path), .name = name};
  return {.folder = path};
}

bool Checkpoints::resume(checkpoint::Course& course, std::optional<ResumeReport>& report) {
  if (!options_.resume) return false;
  const checkpoint::RestoreOrder wanted = order();
  auto restored = value_or_throw(checkpoint::restore(
      group_, files_, wanted,
      [&](const checkpoint::Manifest& manifest) { return targets(manifest.course, course); }));
  if (!restored) return false;
  if (wanted.folder == folder_) {
    left_behind_ = restored->newer;
    saved_step_ = restored->course.position.step;
  }
  course.position = restored->course.position;
  course.loss = restored->course.loss;
  course.best = restored->course.best;
  report = ResumeReport{.snapshot = storage::joined(wanted.folder, restored->name),
                        .step = course.position.step,
                        .epoch = course.position.epoch,
                        .passed_over = restored->damaged};
  return true;
}

// Sums have the same bits as before only if buckets have the same elements.
Result<std::vector<Piece>> Checkpoints::targets(const checkpoint::Course& saved,
                                                const checkpoint::Course& now) {
  COHORT_RETURN_IF_ERROR(check_course(saved, now));
  COHORT_RETURN_IF_ERROR(check_order(saved.bucket_order, replica_.bucket_order().size()));
  replica_.set_bucket_order({saved.bucket_order.begin(), saved.bucket_order.end()});
  return pieces();
}

// Snapshots of a training that began before this one, and that this one does not follow, are set aside.
void Checkpoints::open() {
  if (!options_.checkpoint) return;
  saver_ = value_or_throw(
      checkpoint::Saver::make(group_, files_, saver_options(*options_.checkpoint, folder_)));
  Status ready;
  if (group_.rank() == 0) {
    if (!saved_step_) left_behind_ = value_or_throw(checkpoint::list_snapshots(files_, folder_));
    ready = checkpoint::set_aside(files_, folder_, left_behind_);
  }
  value_or_throw(state::agree(group_, ready));
}

bool Checkpoints::is_due(std::int64_t step) const {
  if (!options_.checkpoint) return false;
  const CheckpointOptions& options = *options_.checkpoint;
  if (options.every_steps && step % *options.every_steps == 0) return true;
  return options.every_time && std::chrono::steady_clock::now() - last_save_ >= *options.every_time;
}

std::vector<Piece> Checkpoints::pieces() {
  std::vector<Piece> all;
  replica_.visit([&](const Piece& piece) { all.push_back(piece); });
  return all;
}

void Checkpoints::save(const checkpoint::Course& course) {
  if (saver_ == nullptr) return;
  last_save_ = std::chrono::steady_clock::now();
  checkpoint::Course whole = course;
  whole.bucket_order.assign(replica_.bucket_order().begin(), replica_.bucket_order().end());
  value_or_throw(saver_->save(pieces(), std::move(whole)));
  report();
}

void Checkpoints::finish(const checkpoint::Course& course) {
  if (saver_ == nullptr) return;
  value_or_throw(saver_->finish());
  report();
  if (saved_step_ == course.position.step) return;
  save(course);
  value_or_throw(saver_->finish());
  report();
}

void Checkpoints::report() {
  for (const checkpoint::SaveReport& each : saver_->take_reports()) {
    if (each.status) saved_step_ = each.step;
    if (!options_.on_checkpoint) continue;
    CheckpointReport shown{.step = each.step,
                           .is_skipped = each.is_skipped,
                           .size_bytes = each.size_bytes,
                           .stall_seconds = each.stall_seconds,
                           .write_seconds = each.write_seconds,
                           .removed = each.removed};
    if (!each.status) shown.failure = each.status.error();
    if (!each.removal) shown.removal_failure = each.removal.error();
    options_.on_checkpoint(shown);
  }
}

}  // namespace cohort::train
