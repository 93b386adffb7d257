#pragma once

#include "comm/group/call.h"
#include "comm/shared_memory/group_view.h"
#include "comm/shared_memory/parts.h"

#include <cstdint>
#include <vector>

namespace cohort::comm {

/// The chunks that a call needs as far as this rank can tell; the call uses the maximum over all ranks.
std::uint32_t rounds_needed(const Call& call, int rank, int world);

/// A collective whose buffers lie in ordinary memory. Data passes chunk by chunk through stages in the
/// arenas, two chunks deep:
///
///     stage    copy the part of the next chunk that other ranks need  (reads the input)
///     combine  combine the own slice of a chunk from all stages       (all_reduce and reduce only)
///     take     copy the result, or the stages of others               (writes the output)
///
/// While other ranks take one chunk, the next is staged, so copying and combining overlap. Each kind of step
/// has a counter per member. A step waits for the counters of the members whose work it needs, or whose
/// reading it would disturb.
///
/// Threads: one at a time.
/// Lifetime: the view, the call and the buffers of the call must outlive it.
/// Failure: advance() never waits.
class Staged {
 public:
  Staged(GroupView& view, const Call& call, std::uint32_t rounds);

  /// Does all work that needs no waiting. True once every member has read all chunks.
  bool advance();
  /// The ranks whose counters this rank waits for.
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
  /// The part of the input of `from` that is meant for this rank, as `from` cut it.
  PartEntry part_for_me(int from) const;

  GroupView& view_;
  const Call& call_;
  const std::uint32_t rounds_;
  const std::uint64_t base_;
  const std::size_t element_bytes_;
  const std::size_t chunk_;  // elements of one chunk; of each part, if the input is cut
  const bool combining_;     // all_reduce and reduce
  std::uint32_t staged_ = 0;
  std::uint32_t combined_ = 0;
  std::uint32_t taken_ = 0;
};

}  // namespace cohort::comm
