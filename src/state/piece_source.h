#pragma once

#include "base/result.h"
#include <cohort/state.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace cohort::state {

/// A piece that can be read from a source.
struct HeldPiece {
  Piece piece{};   ///< without bytes
  int holder = 0;  ///< the rank, or the file, that has it
  /// A hash of its bytes, where another holder has the same elements.
  std::optional<std::uint64_t> hash{};
};

/// Consecutive elements of a held piece.
struct Read {
  std::size_t held = 0;  ///< index in PieceSource::held()
  std::size_t from = 0;  ///< in elements
  std::size_t count = 0;
  /// The memory where its bytes are to be in the end, if the source may put them there by itself. After a
  /// failure its content is unspecified.
  std::span<std::byte> into{};
};

/// Gets the bytes of reads, each in one go or in several; those of one held piece in any order, and copies of
/// an element in the order of its holders. `first` is the offset in the read, in elements. `bytes` lie in
/// Read::into, at that offset, if the source has put them there.
using Taker = std::function<void(std::size_t read, std::size_t first, std::span<const std::byte> bytes)>;

/// Where the pieces of a state come from: other ranks, memory, files.
///
/// Threads: one at a time.
/// Failure: agree() and read() may be calls of several ranks together; an error then ends the call on all.
class PieceSource {
 public:
  PieceSource() = default;
  virtual ~PieceSource() = default;
  PieceSource(const PieceSource&) = delete;
  PieceSource& operator=(const PieceSource&) = delete;

  /// Everything that can be read, the nearest first.
  virtual std::span<const HeldPiece> held() const = 0;
  /// An error if this rank, or another one that reads together with it, has an error. Called before read().
  virtual Status agree(const Status& mine) = 0;
  virtual Status read(std::span<const Read> reads, const Taker& take) = 0;
};

}  // namespace cohort::state
