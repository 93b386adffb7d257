#pragma once

#include "comm/group/call.h"
#include "comm/shared_memory/agreement.h"
#include "comm/shared_memory/group_view.h"
#include "comm/shared_memory/staged.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cohort::comm {

/// One collective call on one rank, as a state machine that advance() moves on. Every call begins in the same
/// way: each member posts its call and waits until it has seen the postings of all others. The data then
/// moves in one of three ways, the same on all ranks:
///
///     inline   every input is small and was copied into the postings: each rank reads them there
///     direct   inputs (and outputs of reductions) lie in the arenas: read, combined and written in place
///     staged   otherwise: chunk by chunk through staging buffers in the arenas
///
/// All three ways combine in the order of the ranks, from the left.
///
/// Threads: one at a time.
/// Lifetime: the view, the call and the buffers of the call must outlive it.
/// Failure: advance() never waits; fault() tells how the calls of the members differ, consumer_error() that
/// the consumer of the call threw. This rank has given up the call then.
class Collective {
 public:
  Collective(GroupView& view, const Call& call, std::uint64_t sequence);

  /// Does all work that needs no waiting. True once the call is over, or the members' calls differ.
  bool advance();
  /// How the members' calls differ: both calls in words; nullopt if they are the same.
  const std::optional<std::string>& fault() const { return fault_; }
  const std::optional<Error>& consumer_error() const { return consumer_error_; }
  /// This rank leaves the call: its caller may use the buffers again, whatever the other ranks still do.
  void give_up();
  /// The ranks that have not posted this call, and all ranks that this one waits for.
  std::vector<int> not_arrived() const;
  std::vector<int> waited_for() const;

 private:
  enum class Phase { kPost, kMeet, kFinish, kStaged, kOver };

  void post();
  bool all_posted();
  bool agree();
  bool agree_on_part(int from, std::size_t expected);
  bool lays_out_parts() const;
  void choose_way();
  void move_direct();
  bool any_rank_gave_up() const;
  void combine_slices();
  void combine_for_consumer(std::size_t count);
  void hand_over(std::size_t first, ConstNumbers piece);
  /// Copies or combines the part of every input that is meant for this rank, from the addresses in `sources`.
  void take();
  const Posting& posted_by(int rank) const { return view_.member(rank).block->postings[parity_]; }
  bool everywhere(bool (*holds)(const Offer&)) const;
  bool contributes(int rank) const;

  GroupView& view_;
  const Call& call_;
  const std::uint64_t sequence_;
  const std::size_t parity_;
  Phase phase_ = Phase::kPost;
  int next_ = 0;  // all ranks below this one have posted
  std::optional<std::string> fault_;
  std::optional<Error> consumer_error_;
  std::optional<Staged> staged_;
};

}  // namespace cohort::comm
