#pragma once

#include "state/piece_source.h"

namespace cohort::interchange {

/// The pieces of a state that lie in files, as a source for state::move().
///
/// The number of updates of a parameter, `weight/step`, is i64 in Cohort. torch.optim keeps a scalar of
/// floating point, which is converted.
///
/// Threads: one at a time.
/// Failure: read() gives kCorrupt for a number of updates that is not whole.
/// Cost: a buffer of 4 MiB; a piece that is not contiguous in its file is read as a whole.
class FilePieces : public state::PieceSource {
 public:
  std::span<const state::HeldPiece> held() const override { return held_; }
  Status agree(const Status& mine) override { return mine; }
  Status read(std::span<const state::Read> reads, const state::Taker& take) override;

 protected:
  /// Adds a piece that read_piece() knows by the number of pieces before it.
  void add(state::HeldPiece piece);
  /// Elements of a piece as they lie in the file, from number `first` on.
  virtual Status read_piece(std::size_t index, std::uint64_t first, std::span<std::byte> into) = 0;
  /// Whether a piece can be read in parts at no extra cost.
  virtual bool has_cheap_parts(std::size_t index) const = 0;

 private:
  Status read_numbers(std::size_t read, const state::Read& what, const state::Taker& take);
  Status read_parts(std::size_t read, const state::Read& what, const state::Taker& take);

  std::vector<state::HeldPiece> held_;
  std::vector<DType> stored_;  // the types in the files
};

}  // namespace cohort::interchange
