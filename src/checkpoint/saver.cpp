#include "checkpoint/saver.h"

#include "checkpoint/snapshot_folder.h"
#include "checkpoint/snapshot_writer.h"
#include "state/gather_lists.h"

#include <array>
#include <chrono>
#include <utility>

namespace cohort::checkpoint {
namespace {

// A bit for each reason why a rank cannot begin at once.
constexpr std::uint8_t kIsWriting = 1, kHasOtherLayout = 2;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

/// The writer, and the group that its thread uses.
class Saver::Writer {
 public:
  Writer(std::unique_ptr<Communicator> group, FileSystem& files, const SaverOptions& options)
      : options_(options), group_(std::move(group)), writer_(*group_, files, options_) {}
  SnapshotWriter* operator->() { return &writer_; }

 private:
  const SaverOptions options_;
  const std::unique_ptr<Communicator> group_;
  SnapshotWriter writer_;
};

Result<std::unique_ptr<Saver>> Saver::make(Communicator& group, FileSystem& files, SaverOptions options) {
  const Status ready = group.rank() == 0 ? prepare_folder(files, options.folder) : Status();
  COHORT_RETURN_IF_ERROR(state::agree(group, ready, std::chrono::hours(24)));  // leftovers may be large
  COHORT_ASSIGN_OR_RETURN(auto behind, group.split(0, group.rank(), "checkpoint"));
  auto writer = std::make_unique<Writer>(std::move(behind), files, options);
  return std::unique_ptr<Saver>(new Saver(group, std::move(writer), std::move(options)));
}

Saver::Saver(Communicator& group, std::unique_ptr<Writer> writer, SaverOptions options)
    : group_(group), options_(std::move(options)), writer_(std::move(writer)) {}

Saver::~Saver() {
  if (!is_over_) {
    (*writer_)->group().abort(
        Error(ErrorCode::kAborted, "training ended while a snapshot was being written"));
  }
  join();
}

void Saver::join() {
  if (thread_.joinable()) thread_.join();
  if (report_) reports_.push_back(*std::exchange(report_, std::nullopt));
}

// False while a rank still writes the snapshot before. The copy in memory has a plan for the present layout
// then.
Result<bool> Saver::is_ready(std::span<const Piece> pieces) {
  const bool needs_plan = !has_plan_ || !plan_.fits(pieces);
  const std::array<std::uint8_t, 1> mine{
      static_cast<std::uint8_t>((is_over_ ? 0 : kIsWriting) | (needs_plan ? kHasOtherLayout : 0))};
  std::vector<std::uint8_t> all(static_cast<std::size_t>(group_.size()));
  COHORT_RETURN_IF_ERROR(group_.run(all_gather(std::span<const std::uint8_t>(mine), std::span(all))));
  std::uint8_t any = 0;
  for (const std::uint8_t each : all) any = static_cast<std::uint8_t>(any | each);
  if ((any & kIsWriting) != 0) return false;
  join();
  if ((any & kHasOtherLayout) == 0) return true;
  has_plan_ = false;
  plan_ = {};  // its memory is free before more is taken
  (*writer_)->forget_base();
  const auto memory =
      options_.writing == Writing::kBehind ? SavingPlan::Memory::kCopy : SavingPlan::Memory::kOfState;
  COHORT_ASSIGN_OR_RETURN(plan_, SavingPlan::make(group_, pieces, memory));
  has_plan_ = true;
  return true;
}

Status Saver::save(std::span<const Piece> pieces, Course course) {
  const auto begin = std::chrono::steady_clock::now();
  SaveReport report{.step = course.position.step};
  COHORT_ASSIGN_OR_RETURN(const bool is_ready_now, is_ready(pieces));
  if (!is_ready_now) {
    report.is_skipped = true;
    report.status = Error(ErrorCode::kTimedOut, "the snapshot before it is still being written")
                        .with_remedy("Write checkpoints less often, or to a faster disk.");
    reports_.push_back(std::move(report));
    return {};
  }
  COHORT_ASSIGN_OR_RETURN(auto collected, plan_.collect(group_, pieces));
  last_step_ = course.position.step;
  report_ = std::move(report);
  report_->stall_seconds = seconds_since(begin);
  if (options_.writing == Writing::kAtOnce) {
    (*writer_)->write(collected, course, *report_);
    report_->stall_seconds = seconds_since(begin);
    join();
    return {};
  }
  is_over_ = false;
  thread_ = std::thread([this, collected = std::move(collected), course = std::move(course)] {
    (*writer_)->write(collected, course, *report_);
    is_over_ = true;
  });
  return {};
}

Status Saver::finish() {
  join();
  return state::agree(group_, {}, std::chrono::hours(24));
}

std::vector<SaveReport> Saver::take_reports() {
  if (is_over_) join();
  return std::exchange(reports_, {});
}

}  // namespace cohort::checkpoint
