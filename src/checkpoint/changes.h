#pragma once

#include <cohort/state.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::checkpoint {

/// Finds the rows of a state that have changed since the last full snapshot. A row is one of a tensor with
/// several dimensions, or a few if they are short, or a part of a long one.
///
/// Threads: one at a time.
/// Cost: a hash of 8 bytes for each row, and a pass over all bytes.
class Changes {
 public:
  /// Remembers these pieces as those of the full snapshot.
  void set_base(std::span<const Piece> pieces);
  /// The parts of the pieces that have changed since then. Pieces that are merged are returned as a whole.
  std::vector<Piece> since_base(std::span<const Piece> pieces) const;

 private:
  std::vector<std::vector<std::uint64_t>> hashes_;  // per piece: of each row
};

}  // namespace cohort::checkpoint
