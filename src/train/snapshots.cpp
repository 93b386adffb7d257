#include "train/snapshots.h"

#include "checkpoint/snapshot_folder.h"
#include "state/gather_lists.h"
#include "storage/path.h"

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

}  // namespace

Snapshots::Snapshots(Communicator& group, CheckpointOptions options, std::string folder)
    : group_(group), options_(std::move(options)), folder_(std::move(folder)) {}

std::optional<ResumeReport> Snapshots::resume(const std::string& path, checkpoint::Course& course,
                                              const checkpoint::Targets& targets) {
  const checkpoint::RestoreOrder order = order_of(path);
  auto restored = value_or_throw(checkpoint::restore(group_, files_, order, targets));
  if (!restored) return std::nullopt;
  if (order.folder == folder_) {
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
  saver_ = value_or_throw(checkpoint::Saver::make(group_, files_, saver_options(options_, folder_)));
  const auto set_aside = [&]() -> Status {
    if (!goes_on_) {
      COHORT_ASSIGN_OR_RETURN(left_behind_, checkpoint::list_snapshots(files_, folder_));
    }
    return checkpoint::set_aside(files_, folder_, left_behind_);
  };
  value_or_throw(state::agree(group_, group_.rank() == 0 ? set_aside() : Status()));
}

bool Snapshots::is_due(std::int64_t step) const {
  if (options_.every_steps && step % *options_.every_steps == 0) return true;
  return options_.every_time && std::chrono::steady_clock::now() - last_save_ >= *options_.every_time;
}

void Snapshots::save(std::span<const Piece> pieces, checkpoint::Course course) {
  last_save_ = std::chrono::steady_clock::now();
  value_or_throw(saver_->save(pieces, std::move(course)));
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
