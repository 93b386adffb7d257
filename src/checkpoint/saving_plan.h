#pragma once

#include "checkpoint/share_out.h"
#include "checkpoint/staging.h"
#include "comm/group/communicator.h"
#include <cohort/state.h>

#include <span>
#include <vector>

namespace cohort::checkpoint {

/// Which elements of a state this rank writes, as agreed with the other ranks for the layouts of all.
///
/// Threads: one at a time.
/// Lifetime: must outlive the pieces that collect() returns.
/// Failure: as the group, and as share_out().
class SavingPlan {
 public:
  SavingPlan() = default;
  /// The memory that collect() returns: that of the state itself, or a copy.
  enum class Memory : std::uint8_t { kOfState, kCopy };
  /// All ranks of the group together.
  static Result<SavingPlan> make(Communicator& group, std::span<const Piece> pieces, Memory memory);

  /// True if the pieces of this rank have the layout that the plan was made for.
  bool fits(std::span<const Piece> pieces) const;

  /// The pieces that this rank writes: their bytes lie in the state itself, or are copies. Elements that
  /// ranks hold differently are merged, on all ranks of the group together.
  Result<std::vector<Piece>> collect(Communicator& group, std::span<const Piece> pieces) const;

 private:
  std::span<std::byte> room_of(std::size_t portion) const;
  Status merge(Communicator& group, std::span<const Piece> pieces, std::vector<Piece>& collected) const;

  std::vector<Piece> layout_;        // without bytes
  std::vector<Portion> portions_;    // that this rank writes
  std::vector<std::size_t> firsts_;  // per portion: where its copy begins
  Memory memory_ = Memory::kOfState;
  bool merges_ = false;  // a rank has elements to merge
  Staging staging_;
};

}  // namespace cohort::checkpoint
