#include "train/kept_state.h"

#include "checkpoint/host_shares.h"
#include "state/gather_lists.h"
#include "state/move.h"
#include "state/row_major.h"

namespace cohort::train {

void KeptState::join(Communicator& group) {
  value_or_throw(copies_.join(group));
  group_ = &group;
  const bool needs_copies = copies_.holds_any() && !is_over_;
  some_rank_has_copies_ = value_or_throw(state::largest_of_all(group, needs_copies ? 1 : 0)) != 0;
  if (!some_rank_has_copies_) copies_.give_back();
  is_over_ = false;
}

void KeptState::keep(std::int64_t step, std::vector<Piece> pieces) {
  state::RowMajorPieces row_major(std::move(pieces));
  row_major.read();
  value_or_throw(copies_.keep(step, row_major.pieces()));
}

std::optional<NeighbourCopies::Kept> KeptState::newest(std::optional<Error>& loss) {
  if (!some_rank_has_copies_) return std::nullopt;
  auto kept = copies_.last();
  if (kept) return std::move(*kept);
  if (kept.error().code() != ErrorCode::kNotFound) raise(kept.error());
  loss = kept.error();
  return std::nullopt;
}

void KeptState::fill(std::vector<Piece> pieces, NeighbourCopies::Kept& kept) {
  state::RowMajorPieces row_major(std::move(pieces));
  const auto parts = value_or_throw(checkpoint::own_parts(*group_, row_major.pieces()));
  value_or_throw(state::agree(*group_, state::move(parts, *kept.source)));
  row_major.write();
}

}  // namespace cohort::train
