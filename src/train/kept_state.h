#pragma once

#include "copies/neighbour_copies.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cohort::train {

/// The copies of a training that goes on from generation to generation.
///
/// Threads: one at a time; all ranks call join(), keep(), newest() and fill() together.
/// Lifetime: the arena must outlive it, and the group the calls until the next join().
/// Failure: throws what the group reports; after that, only join() with a new group goes on.
/// Cost: as NeighbourCopies.
class KeptState {
 public:
  explicit KeptState(Arena& arena) : copies_(arena) {}

  /// Keeps copies among the ranks of this group from now on. Copies of a training that is over on all ranks
  /// are given back.
  void join(Communicator& group);
  void keep(std::int64_t step, std::vector<Piece> pieces);

  /// The newest version; nothing if no rank has kept one, or, with `loss`, if none is complete.
  std::optional<NeighbourCopies::Kept> newest(std::optional<Error>& loss);
  /// Fills the pieces of all ranks, also those in memory that ranks share.
  void fill(std::vector<Piece> pieces, NeighbourCopies::Kept& kept);

  /// This rank has ended the training. Its copies stay until all have: one that was lost in the last step
  /// leaves others that must go on.
  void training_is_over() { is_over_ = true; }
  void abort(const Error& cause) { copies_.abort(cause); }
  void give_back() { copies_.give_back(); }

 private:
  NeighbourCopies copies_;
  Communicator* group_ = nullptr;
  bool is_over_ = false;
  bool some_rank_has_copies_ = false;
};

}  // namespace cohort::train
