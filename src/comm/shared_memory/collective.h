#pragma once

#include "comm/call.h"
#include "comm/shared_memory/agreement.h"
#include "comm/shared_memory/group_view.h"
#include "comm/shared_memory/staged.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cohort::comm {

/// One collective call of one rank, as a machine that goes on whenever it is asked. Every call begins alike:
/// all members post what they call and see what the others posted. Then one of three ways, the same on
/// all ranks:
///
///     inline   a small input came with the posting: whoever needs it reads it there, and that is all
///     direct   inputs (and outputs of reductions) lie in the arenas: read, combined and written in place
///     staged   else: chunk by chunk through the members' stages
///
/// Combinations are made from rank 0 to the last, from the left, on each of the three ways.
///
/// Threads: one at a time.
/// Lifetime: call, view and the call's numbers must outlive it.
/// Failure: advance() never waits; fault() says what members disagree about.
class Collective {
 public:
  Collective(GroupView& view, const Call& call, std::uint64_t sequence);

  /// Does what can be done now. True once the call is over, or members disagree.
  bool advance();
  /// What members disagree about, if they do: both calls in words.
  const std::optional<std::string>& fault() const { return fault_; }
  /// This rank leaves the call: from now on the numbers are its caller's again, whatever the others do.
  void give_up();
  /// Ranks for which this one waits, and whether they have not even called.
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
  bool somebody_gave_up() const;
  void combine_slices();
  void combine_for_consumer(std::size_t count);
  /// Takes over what other members' inputs hold for this one, from where sources_ says they are.
  void take();
  const Posting& posted_by(int rank) const { return view_.member(rank).block->postings[parity_]; }
  bool everywhere(bool (*holds)(const Offer&)) const;
  bool contributes(int rank) const;

  GroupView& view_;
  const Call& call_;
  const std::uint64_t sequence_;
  const std::size_t parity_;
  Phase phase_ = Phase::kPost;
  int next_ = 0;  // ranks before this one are known to have come
  std::optional<std::string> fault_;
  std::optional<Staged> staged_;
};

}  // namespace cohort::comm
