#include "train/training_copies.h"

#include "checkpoint/course_pieces.h"
#include <cohort/state_copies.h>

#include <fmt/format.h>

namespace cohort::train {

TrainingCopies::TrainingCopies(Communicator& group, const TrainerOptions& options)
    : group_(group),
      kept_(options.copies != nullptr ? &options.copies->kept() : nullptr),
      every_(options.copies_every) {}

// The course comes first: the layout of the state follows from its order of buckets.
std::optional<ResumeReport> TrainingCopies::resume(checkpoint::Course& course, const Targets& targets) {
  loss_.reset();
  if (kept_ == nullptr) return std::nullopt;
  kept_->join(group_);
  auto version = kept_->newest(loss_);
  if (!version) return std::nullopt;
  const checkpoint::Course saved = value_or_throw(checkpoint::CoursePieces::read(*version->source));
  std::vector<Piece> pieces = value_or_throw(targets(saved).within(
      fmt::format("training cannot go on from the copies of step {}", version->version)));
  kept_->fill(pieces, *version);
  course.position = saved.position;
  course.loss = saved.loss;
  course.best = saved.best;
  version->source.reset();
  checkpoint::Course kept_course = course;
  kept_course.bucket_order = saved.bucket_order;
  keep(std::move(pieces), kept_course);  // a second loss must not meet copies that a rank took with it
  return ResumeReport{.step = course.position.step, .epoch = course.position.epoch};
}

void TrainingCopies::keep(std::vector<Piece> pieces, const checkpoint::Course& course) {
  checkpoint::CoursePieces of_course(course);
  for (Piece& piece : of_course.pieces()) pieces.push_back(std::move(piece));
  kept_->keep(course.position.step, std::move(pieces));
}

void TrainingCopies::training_is_over() {
  if (kept_ != nullptr) kept_->training_is_over();
}

void TrainingCopies::abort(const Error& cause) {
  if (kept_ != nullptr) kept_->abort(cause);
}

}  // namespace cohort::train
