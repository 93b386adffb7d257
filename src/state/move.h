#pragma once

#include "layout/slice.h"
#include "state/piece_source.h"

#include <span>
#include <vector>

namespace cohort::state {

/// A read, and the element of a target at which it begins.
struct PlannedRead {
  Read read{};
  std::size_t target = 0;  ///< index in the targets
  std::size_t to = 0;      ///< in elements
};

/// The reads that fill the targets: a pure function of names, shapes, slices and merge rules. Elements of
/// Merge::kSame are read once, from the nearest holder; all copies of the others are read, in the order of
/// their holders' numbers: sums have the same bits on all ranks.
///
/// Failure: kUsage or kCorrupt, naming the piece: nobody has a piece of this name, or one of another shape,
/// type or merge rule; nobody has an element; holders of the same elements have different bytes.
Result<std::vector<PlannedRead>> plan_move(std::span<const Piece> to, std::span<const HeldPiece> held);

/// Fills the bytes of all targets from a source, whatever the layouts of both are.
///
/// Failure: as plan_move(), and errors of the source. After an error of the source the content of the targets
/// is unspecified. The memory of a target must not overlap what the source reads, unless both are the same.
/// Cost: one copy; a few doubles for each element that is merged.
Status move(std::span<const Piece> to, PieceSource& from);

}  // namespace cohort::state
