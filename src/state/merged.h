#pragma once

#include <cohort/state.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::state {

/// Combines the copies of the elements of a piece by its merge rule. Elements whose copies are all the same
/// keep their bits. Sums are added in double, in the order of add().
///
/// Threads: one at a time.
/// Lifetime: the bytes of the piece must outlive it; they are written by finish() alone.
/// Cost: for each element two copies, and a double for sums and means.
class Merged {
 public:
  explicit Merged(const Piece& piece);

  /// Copies of the elements from `to` on.
  void add(std::size_t to, std::span<const std::byte> copies);
  void finish();

 private:
  void add_sums(std::size_t to, std::size_t count);

  const Piece piece_;
  const bool adds_;                         // kSum, kMean
  std::vector<std::byte> values_;           // the first copies; with kMax the largest so far
  std::vector<std::byte> given_;            // the copies of one add(), so that they are aligned
  std::vector<double> sums_;                // of all copies
  std::vector<std::uint32_t> num_copies_;   // per element
  std::vector<std::uint8_t> is_different_;  // per element: a copy differs from the first
};

}  // namespace cohort::state
