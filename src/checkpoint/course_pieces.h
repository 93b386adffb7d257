#pragma once

#include "checkpoint/manifest.h"
#include "state/piece_source.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace cohort::checkpoint {

/// A course as pieces that all ranks have alike: `position/step`, `course/bucket_order`, … The job file is
/// not among them: whoever goes on from the pieces has it already.
///
/// Lifetime: the pieces point into this object.
class CoursePieces {
 public:
  explicit CoursePieces(const Course& course);
  CoursePieces(const CoursePieces&) = delete;
  CoursePieces& operator=(const CoursePieces&) = delete;

  /// As many pieces of the same shapes for every course of one training.
  std::vector<Piece> pieces();

  /// The course that the source holds. All ranks that read from the source together call this.
  ///
  /// Failure: as state::move(); kCorrupt for settings that no course has.
  static Result<Course> read(state::PieceSource& source);

 private:
  CoursePieces() = default;
  void take_sizes(const state::PieceSource& source);
  Result<Course> course() const;

  state::Position position_{};
  std::array<std::int64_t, 8> numbers_{};
  std::array<double, 3> losses_{};
  std::vector<std::int64_t> bucket_order_{};
  std::string settings_{};  // a line for each: name, '=', value
};

}  // namespace cohort::checkpoint
