#include "train/snapshots.h"

#include "checkpoint/snapshot_folder.h"
#include "state/gather_lists.h"
#include "state/row_major.h"
#include "state/run_directory.h"
#include "storage/path.h"

#include <filesystem>
#include <fmt/format.h>
#include <utility>

namespace cohort::train {
namespace {

checkpoint::SaverOptions saver_options(const CheckpointOptions& options, const std::string& folder) {
  return {.folder = folder,
          .writing = options.background ? checkpoint::Writing::kBehind : checkpoint::Writing::kAtOnce,
          .compression = options.compress ? checkpoint::Compression::kZstd : checkpoint::Compression::kNone,
          .retention = {.last = options.keep_last, .best = options.keep_best, .every = options.keep_every},
          .full_every = options.full_every};
}

// A path is that of a snapshot if its last part is the name of one.
checkpoint::RestoreOrder order_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::string name = storage::name_of(path);
  if (checkpoint::step_of(name)) return {.folder = storage::directory_of(path), .name = name};
  return {.folder = path};
}

CheckpointReport report_of(const checkpoint::SaveReport& report) {
  CheckpointReport shown{.step = report.step,
                         .is_skipped = report.is_skipped,
                         .size_bytes = report.size_bytes,
                         .stall_seconds = report.stall_seconds,
                         .write_seconds = report.write_seconds,
                         .removed = report.removed};
  if (!report.status) shown.failure = report.status.error();
  if (!report.removal) shown.removal_failure = report.removal.error();
  return shown;
}

// The same on all ranks: rank 0 reports it.
Error no_snapshot(const std::string& folder, int rank) {
  const Error error = Error(ErrorCode::kNotFound, fmt::format("there is no snapshot in '{}'", folder))
                          .with_remedy("`cohort checkpoint list` shows the snapshots of a folder.");
  return rank == 0 ? error : Error(ErrorCode::kAborted, "rank 0 failed: " + error.text()).with_rank(0);
}

bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code failure;
  return std::filesystem::weakly_canonical(a, failure) == std::filesystem::weakly_canonical(b, failure);
}

}  // namespace

void check_checkpoint_options(const CheckpointOptions& options) {
  const auto at_least = [](const char* name, std::int64_t value, std::int64_t least) {
    if (value >= least) return;
    throw UsageError(UsageError(fmt::format("CheckpointOptions::{} is {}", name, value))
                         .with_remedy(fmt::format("Give a number of at least {}.", least)));
  };
  at_least("every_steps", options.every_steps.value_or(1), 1);
  at_least("every_time", options.every_time ? options.every_time->count() : 1, 1);
  at_least("keep_last", options.keep_last, 1);
  at_least("keep_best", options.keep_best, 0);
  at_least("keep_every", options.keep_every.value_or(1), 1);
  at_least("full_every", options.full_every, 1);
}

Snapshots::Snapshots(Communicator& group, CheckpointOptions options, const std::string& folder)
    : group_(group),
      options_(std::move(options)),
      folder_(folder.empty() ? "" : std::filesystem::absolute(folder).lexically_normal().string()) {}

bool Snapshots::as_rank_0(bool mine) {
  return value_or_throw(state::largest_of_all(group_, group_.rank() == 0 && mine ? 1 : 0)) != 0;
}

// The folder of a run has its snapshots in a sub-folder.
checkpoint::RestoreOrder Snapshots::order_for(const std::string& path) {
  checkpoint::RestoreOrder order = order_of(path.empty() ? folder_ : path);
  if (path.empty() || order.name) return order;
  const std::string below = storage::joined(order.folder, kCheckpoints);
  const auto names = checkpoint::list_snapshots(files_, order.folder);
  const bool is_of_run = names && names->empty() && files_.exists(below).value_or(false);
  if (as_rank_0(is_of_run)) order.folder = below;
  return order;
}

std::optional<ResumeReport> Snapshots::resume(const std::string& path, checkpoint::Course& course,
                                              const checkpoint::Targets& targets) {
  const checkpoint::RestoreOrder order = order_for(path);
  std::optional<state::RowMajorPieces> pieces;
  auto restored = value_or_throw(checkpoint::restore(
      group_, files_, order, [&](const checkpoint::Manifest& manifest) -> Result<std::vector<Piece>> {
        COHORT_ASSIGN_OR_RETURN(std::vector<Piece> found, targets(manifest));
        pieces.emplace(std::move(found));
        return std::vector(pieces->pieces().begin(), pieces->pieces().end());
      }));
  if (restored) pieces->write();
  if (!restored && path.empty()) return std::nullopt;
  if (!restored) raise(no_snapshot(order.folder, group_.rank()));
  if (as_rank_0(is_same_folder(order.folder, folder_))) {
    goes_on_ = true;
    left_behind_ = restored->newer;
    saved_step_ = restored->course.position.step;
  }
  course.position = restored->course.position;
  course.loss = restored->course.loss;
  course.best = restored->course.best;
  return ResumeReport{.snapshot = storage::joined(order.folder, restored->name),
                      .step = course.position.step,
                      .epoch = course.position.epoch,
                      .passed_over = restored->damaged};
}

void Snapshots::leave_behind() {
  Status moved;
  if (group_.rank() == 0) moved = checkpoint::set_aside(files_, folder_, left_behind_);
  value_or_throw(state::agree(group_, moved));
}

void Snapshots::go_on_after(std::int64_t step) {
  std::int64_t saved = -1;
  const auto sort_out = [&]() -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto names, checkpoint::list_snapshots(files_, folder_));
    for (const std::string& name : names) {
      const std::int64_t its_step = *checkpoint::step_of(name);
      if (its_step > step) left_behind_.push_back(name);
      if (its_step <= step) saved = its_step;
    }
    return {};
  };
  value_or_throw(state::agree(group_, group_.rank() == 0 ? sort_out() : Status()));
  saved = value_or_throw(state::largest_of_all(group_, saved));
  if (saved >= 0) saved_step_ = saved;
  goes_on_ = true;
}

void Snapshots::open() {
  if (saver_ != nullptr) return;
  const auto lock = [&]() -> Status {
    COHORT_RETURN_IF_ERROR(files_.make_directories(folder_));
    COHORT_ASSIGN_OR_RETURN(lock_, FolderLock::take(folder_));
    return {};
  };
  value_or_throw(state::agree(
      group_, group_.rank() == 0
                  ? lock().within(fmt::format("the folder '{}' cannot be used for checkpoints", folder_))
                  : Status()));
  saver_ = value_or_throw(checkpoint::Saver::make(group_, files_, saver_options(options_, folder_)));
  if (!goes_on_ && group_.rank() == 0) {
    left_behind_ = checkpoint::list_snapshots(files_, folder_).value_or(std::vector<std::string>());
  }
  leave_behind();
}

bool Snapshots::is_due(std::int64_t step) const {
  if (options_.every_steps && step % *options_.every_steps == 0) return true;
  return options_.every_time && std::chrono::steady_clock::now() - last_save_ >= *options_.every_time;
}

void Snapshots::save(std::vector<Piece> pieces, checkpoint::Course course) {
  last_save_ = std::chrono::steady_clock::now();
  course.taken_at = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  state::RowMajorPieces row_major(std::move(pieces));
  row_major.read();
  value_or_throw(saver_->save(row_major.pieces(), std::move(course)));
  collect();
}

void Snapshots::wait() {
  if (saver_ == nullptr) return;
  value_or_throw(saver_->finish());
  collect();
}

void Snapshots::collect() {
  for (const checkpoint::SaveReport& each : saver_->take_reports()) {
    if (each.status) saved_step_ = each.step;
    reports_.push_back(report_of(each));
    last_failure_ = reports_.back().failure;
  }
}

std::vector<CheckpointReport> Snapshots::take_reports() {
  if (saver_ != nullptr) collect();
  return std::exchange(reports_, {});
}

}  // namespace cohort::train
