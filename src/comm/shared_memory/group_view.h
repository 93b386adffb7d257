#pragma once

#include "comm/shared_memory/neighbours.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::comm {

/// How much a member lays down at a time of a call that cannot be done in place.
inline constexpr std::size_t kStageBytes = std::size_t{128} << 10;

/// What this process sees of one member of a group.
struct MemberView {
  MemberBlock* block = nullptr;
  PartEntry* parts[2] = {};   ///< of a ragged input, one entry per rank; by parity of the call
  std::byte* stage[2] = {};   ///< what it gives; by parity of the chunk
  std::byte* result[2] = {};  ///< its slice of what was combined; by parity of the chunk
  std::byte* memory = nullptr;
  ArenaHeader* header = nullptr;
};

/// Where this member's own block and stages are.
struct OwnBlocks {
  ArenaBlock block{};
  ArenaBlock stages{};

  /// Allocates both for a group of `world`, ready to be seen by others.
  static Result<OwnBlocks> allocate(Arena& arena, int world);
};

/// All members of a group, by rank in the group, and how far the group has come. One collective at a time
/// uses it.
///
/// Lifetime: the neighbours must outlive it.
class GroupView {
 public:
  /// `members`: ranks among the neighbours, `offsets`: of their blocks. Fails with kCorrupt if one lies
  /// outside its arena.
  static Result<GroupView> of(Neighbours& neighbours, std::span<const int> members,
                              std::span<const std::uint64_t> offsets, int rank);

  int rank() const { return rank_; }
  int world() const { return static_cast<int>(members_.size()); }
  const MemberView& member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  const MemberView& mine() const { return member(rank_); }
  const Arena& arena() const { return *arena_; }

  /// Makes what was stored before visible and wakes who sleeps.
  void publish(std::atomic<std::uint64_t>& counter, std::uint64_t value) const {
    counter.store(value, std::memory_order_release);
    // Whoever goes to sleep has made every core of its peers pass a barrier: see Doorbell of the arena.
    if (needs_fence_) {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    for (ArenaHeader* header : other_headers_) ring_if_asleep(*header);
  }

  std::uint64_t chunks = 0;  ///< staged so far in all calls together: the same on all ranks between calls
  // Room for one pointer per member, so that a call allocates nothing.
  std::vector<const std::byte*> sources{};
  std::vector<std::byte*> targets{};

 private:
  int rank_ = 0;
  const Arena* arena_ = nullptr;
  std::vector<MemberView> members_;
  std::vector<ArenaHeader*> other_headers_;
  bool needs_fence_ = false;  // a member cannot be made to pass a barrier from outside
};

}  // namespace cohort::comm
