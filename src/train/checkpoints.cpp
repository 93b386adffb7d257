#include "train/checkpoints.h"

#include "state/run_directory.h"
#include "storage/path.h"
#include "train/bucket_order.h"

#include <fmt/format.h>

namespace cohort::train {
namespace {

Error unlike(const std::string& what, const std::string& saved, const std::string& now) {
  return Error(ErrorCode::kUsage,
               fmt::format("it was written in the middle of an epoch with {} = {}, and now {} = {}", what,
                           saved, what, now))
      .with_remedy(
          fmt::format("Set {} to {}, or go on from a snapshot at the end of an epoch.", what, saved));
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
  for (const char* const key : {"seed", "shuffle"}) {
    const auto value_in = [key](const checkpoint::Course& course) {
      const auto found = course.settings.find(key);
      return found == course.settings.end() ? std::string("not set") : found->second;
    };
    if (value_in(saved) != value_in(now)) {
      return unlike(fmt::format("TrainerOptions::{}", key), value_in(saved), value_in(now));
    }
  }
  return {};
}

Status check_order(const std::vector<std::int64_t>& order, std::size_t num_parameters) {
  if (is_order_of(order, num_parameters)) return {};
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
    : replica_(replica),
      options_(options),
      snapshots_(group, options.checkpoint.value_or(CheckpointOptions{}), checkpoint_folder(options)),
      copies_(group, options) {}

std::optional<ResumeReport> Checkpoints::resume(checkpoint::Course& course) {
  const auto copied =
      copies_.resume(course, [&](const checkpoint::Course& saved) { return targets(saved, course); });
  if (copied) snapshots_.go_on_after(copied->step);
  if (copied || !options_.resume) return copied;
  auto report = snapshots_.resume(*options_.resume, course, [&](const checkpoint::Manifest& manifest) {
    return targets(manifest.course, course);
  });
  if (report && copies_.loss()) report->passed_over.insert(report->passed_over.begin(), *copies_.loss());
  return report;
}

// Sums have the same bits as before only if buckets have the same elements.
Result<std::vector<Piece>> Checkpoints::targets(const checkpoint::Course& saved,
                                                const checkpoint::Course& now) {
  COHORT_RETURN_IF_ERROR(check_course(saved, now));
  COHORT_RETURN_IF_ERROR(check_order(saved.bucket_order, replica_.bucket_order().size()));
  replica_.set_bucket_order({saved.bucket_order.begin(), saved.bucket_order.end()});
  return pieces();
}

// A tensor that cannot be saved is noticed now, not after hours of training.
void Checkpoints::open() {
  if (!options_.checkpoint) return snapshots_.leave_behind();
  (void)pieces();
  snapshots_.open();
}

bool Checkpoints::is_due(std::int64_t step) const {
  return options_.checkpoint && snapshots_.is_due(step);
}

std::vector<Piece> Checkpoints::pieces() {
  std::vector<Piece> all;
  replica_.visit([&](const Piece& piece) { all.push_back(piece); });
  return all;
}

checkpoint::Course Checkpoints::completed(const checkpoint::Course& course) const {
  checkpoint::Course whole = course;
  whole.optimizer_groups = replica_.optimizer_groups();
  whole.bucket_order.assign(replica_.bucket_order().begin(), replica_.bucket_order().end());
  return whole;
}

void Checkpoints::save(const checkpoint::Course& course) {
  if (!options_.checkpoint) return;
  snapshots_.save(pieces(), completed(course));
  report();
}

void Checkpoints::copy(const checkpoint::Course& course) {
  if (copies_.is_due(course.position.step)) copies_.keep(pieces(), completed(course));
}

void Checkpoints::finish(const checkpoint::Course& course) {
  if (!options_.checkpoint) return;
  snapshots_.wait();
  if (saved_step() != course.position.step) {
    save(course);
    snapshots_.wait();
  }
  report();
}

void Checkpoints::report() {
  for (const CheckpointReport& each : snapshots_.take_reports()) {
    if (options_.on_checkpoint) options_.on_checkpoint(each);
  }
}

}  // namespace cohort::train
