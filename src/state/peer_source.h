#pragma once

#include "comm/group/communicator.h"
#include "state/piece_source.h"

#include <memory>
#include <span>
#include <vector>

namespace cohort::state {

/// The pieces that the ranks of a group hold, to be read by all of them together. A rank reads its own pieces
/// from memory; the others send it exactly the runs that it asks for. The nearest holder is the rank itself,
/// then the next rank, and so on around the group, so that no rank has to send everything.
///
/// Threads: one at a time, as the group.
/// Lifetime: group and bytes must outlive it; nobody may write to the bytes meanwhile.
/// Failure: as the group. agree() returns the error of another rank as kAborted, with its number.
/// Cost: opening it gathers the descriptions of all pieces on every rank, and hashes the pieces of which
/// several ranks have the same slice. Reading takes two buffers of at most kBufferBytes, however large the
/// state is.
class PeerSource final : public PieceSource {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{4} << 20;

  /// All ranks call this together, and agree() and read() afterwards, each equally often.
  static Result<std::unique_ptr<PeerSource>> open(Communicator& group, std::span<const Piece> mine,
                                                  std::size_t buffer_bytes = kBufferBytes);

  std::span<const HeldPiece> held() const override { return held_; }
  Status agree(const Status& mine) override;
  Status read(std::span<const Read> reads, const Taker& take) override;

 private:
  PeerSource(Communicator& group, std::span<const Piece> mine, std::size_t buffer_bytes);
  Status gather_layouts();
  Status gather_hashes();

  Communicator& group_;
  const std::vector<Piece> mine_;
  const std::size_t buffer_bytes_;
  std::vector<HeldPiece> held_;
  std::vector<std::size_t> indices_;  // per held piece: its index among the pieces of its holder
};

}  // namespace cohort::state
