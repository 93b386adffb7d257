#pragma once

#include <cohort/state.h>

#include <cstddef>
#include <span>
#include <vector>

namespace cohort::state {

/// The range of a row of elements that this box forms, as boxes that are full: their elements, end to end,
/// are those of the range. At most two for each dimension.
std::vector<Box> boxes_of_range(const Box& box, std::size_t first, std::size_t count);

/// Pieces whose elements are in row-major order, as files and peers have them: those of other pieces, some of
/// which have another order of dimensions in memory, such as channels last.
///
/// Lifetime: the memory of the pieces must outlive it, and it must outlive pieces().
/// Cost: a copy of the pieces with another order.
class RowMajorPieces {
 public:
  explicit RowMajorPieces(std::vector<Piece> pieces);

  /// In the order in which they were given. Those with another order have memory here.
  std::span<const Piece> pieces() const { return pieces_; }
  /// Takes the elements from the memory of the given pieces.
  void read();
  /// Writes the elements to the memory of the given pieces.
  void write();

 private:
  /// A piece with another order, and its elements here.
  struct Turned {
    Piece given{};
    std::vector<std::byte> bytes{};
  };

  std::vector<Piece> pieces_;
  std::vector<Turned> turned_;
};

}  // namespace cohort::state
