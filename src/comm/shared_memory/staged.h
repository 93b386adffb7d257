#pragma once

#include "comm/call.h"
#include "comm/shared_memory/group_view.h"
#include "comm/shared_memory/parts.h"

#include <cstdint>
#include <vector>

namespace cohort::comm {

/// How many chunks a call needs as far as this rank can tell; the largest number of all ranks counts.
std::uint32_t rounds_needed(const Call& call, int rank, int world);

/// A collective whose numbers lie in ordinary memory, chunk by chunk through the stages, two chunks deep:
///
///     stage    lay down what others need of the next chunk      (reads the input)
///     combine  add up the own slice of a chunk from all stages  (reductions to a whole vector only)
///     take     take over what others laid down                  (writes the output)
///
/// While the others take one chunk the next is laid down: copying and combining overlap. Every kind of step
/// has a counter per member; a step waits for the counters of those whose work it needs, or whose reading it
/// would disturb.
///
/// Threads: one at a time.
/// Failure: advance() never waits.
class Staged {
 public:
  Staged(GroupView& view, const Call& call, std::uint32_t rounds);

  /// Does what can be done now. True once every member has taken over everything.
  bool advance();
  /// Ranks whose counters hold this one up.
  std::vector<int> waited_for() const;

 private:
  using Counter = std::atomic<std::uint64_t> Counters::*;

  bool try_stage();
  bool try_combine();
  bool try_take();
  void stage(std::uint32_t round);
  void combine_slice(std::uint32_t round);
  void take(std::uint32_t round);

  void stage_parts(std::uint32_t round);
  void take_part(int from, std::uint32_t round);
  void take_combined_part(std::uint32_t round);
  void take_slices(std::uint32_t round);

  bool takes() const;
  bool reached(int rank, Counter counter, std::uint64_t value) const {
    return (view_.member(rank).block->counters.*counter).load(std::memory_order_acquire) >= value;
  }
  bool all_reached(Counter counter, std::uint64_t value) const;
  bool producers_reached(Counter counter, std::uint64_t value) const;
  void publish(Counter counter, std::uint64_t value) const {
    view_.publish(view_.mine().block->counters.*counter, value);
  }

  PartEntry input_part(int rank) const;
  PartEntry output_part(int rank) const;
  PartEntry chunk_of(PartEntry part, std::uint32_t round) const;
  /// The part of p's input that is for this rank, as p cut it.
  PartEntry part_for_me(int from) const;

  GroupView& view_;
  const Call& call_;
  const std::uint32_t rounds_;
  const std::uint64_t base_;
  const std::size_t element_bytes_;
  const std::size_t chunk_;  // elements of one chunk, of each part where the input is cut into parts
  const bool combining_;     // all_reduce and reduce
  std::uint32_t staged_ = 0;
  std::uint32_t combined_ = 0;
  std::uint32_t taken_ = 0;
};

}  // namespace cohort::comm
