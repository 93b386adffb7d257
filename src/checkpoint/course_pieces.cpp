#include "checkpoint/course_pieces.h"

#include "layout/slice.h"
#include "state/move.h"

#include <fmt/format.h>
#include <span>

namespace cohort::checkpoint {
namespace {

constexpr const char* kBucketOrderPiece = "course/bucket_order";
constexpr const char* kSettingsPiece = "course/settings";

// The places of the numbers, and of the losses.
enum Number : std::size_t {
  kSamples,
  kBatchSize,
  kMicroBatches,
  kHasLoss,
  kHasBest,
  kEpoch,
  kStep,
  kHasAccuracy
};
enum Loss : std::size_t { kLastLoss, kBestLoss, kBestAccuracy };

template <class Numbers>
Piece piece_of(const char* name, DType dtype, Numbers& numbers) {
  const Shape shape = {std::size(numbers)};
  return {.name = name,
          .dtype = dtype,
          .shape = shape,
          .mine = whole(shape),
          .bytes = std::as_writable_bytes(std::span(numbers))};
}

Result<std::map<std::string, std::string>> settings_in(std::string_view text) {
  std::map<std::string, std::string> settings;
  while (!text.empty()) {
    const std::size_t equals = text.find('='), end = text.find('\n');
    if (end == text.npos || equals > end) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("the settings of the course end with '{}', expected lines name=value", text));
    }
    settings.emplace(text.substr(0, equals), text.substr(equals + 1, end - equals - 1));
    text.remove_prefix(end + 1);
  }
  return settings;
}

}  // namespace

CoursePieces::CoursePieces(const Course& course)
    : position_(course.position), bucket_order_(course.bucket_order) {
  const BestEvaluation best = course.best.value_or(BestEvaluation{});
  numbers_[kSamples] = course.ledger.samples;
  numbers_[kBatchSize] = course.ledger.batch_size;
  numbers_[kMicroBatches] = course.ledger.micro_batches;
  numbers_[kHasLoss] = course.loss ? 1 : 0;
  numbers_[kHasBest] = course.best ? 1 : 0;
  numbers_[kEpoch] = best.epoch;
  numbers_[kStep] = best.step;
  numbers_[kHasAccuracy] = best.accuracy ? 1 : 0;
  losses_ = {course.loss.value_or(0), best.loss, best.accuracy.value_or(0)};
  for (const auto& [name, value] : course.settings) settings_ += fmt::format("{}={}\n", name, value);
}

std::vector<Piece> CoursePieces::pieces() {
  std::vector<Piece> all = {piece_of("course/numbers", DType::kI64, numbers_),
                            piece_of("course/losses", DType::kF64, losses_),
                            piece_of(kBucketOrderPiece, DType::kI64, bucket_order_),
                            piece_of(kSettingsPiece, DType::kU8, settings_)};
  state::visit(position_, [&](const Piece& piece) { all.push_back(piece); });
  return all;
}

Result<Course> CoursePieces::read(state::PieceSource& source) {
  CoursePieces found;
  found.take_sizes(source);
  COHORT_RETURN_IF_ERROR(state::move(found.pieces(), source));
  return found.course();
}

// The lengths of list and text are known to those alone who kept them.
void CoursePieces::take_sizes(const state::PieceSource& source) {
  for (const state::HeldPiece& held : source.held()) {
    if (held.piece.name == kBucketOrderPiece) bucket_order_.resize(num_elements(held.piece.shape));
    if (held.piece.name == kSettingsPiece) settings_.resize(num_elements(held.piece.shape));
  }
}

Result<Course> CoursePieces::course() const {
  Course course{.position = position_,
                .ledger = {.samples = numbers_[kSamples],
                           .batch_size = numbers_[kBatchSize],
                           .micro_batches = numbers_[kMicroBatches]},
                .bucket_order = bucket_order_};
  COHORT_ASSIGN_OR_RETURN(course.settings, settings_in(settings_));
  if (numbers_[kHasLoss] != 0) course.loss = losses_[kLastLoss];
  if (numbers_[kHasBest] == 0) return course;
  course.best = {.epoch = numbers_[kEpoch], .step = numbers_[kStep], .loss = losses_[kBestLoss]};
  if (numbers_[kHasAccuracy] != 0) course.best->accuracy = losses_[kBestAccuracy];
  return course;
}

}  // namespace cohort::checkpoint
