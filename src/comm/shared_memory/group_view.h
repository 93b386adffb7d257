#pragma once

#include "comm/shared_memory/neighbours.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::comm {

/// Bytes that a member stages at a time in a call that cannot work in place.
inline constexpr std::size_t kStageBytes = std::size_t{128} << 10;

/// Addresses of one group member's shared memory, as mapped in this process.
struct MemberView {
  MemberBlock* block = nullptr;
  PartEntry* parts[2] = {};   ///< parts of a ragged input, one per rank; two calls in turn
  std::byte* stage[2] = {};   ///< chunks of its input; two chunks in turn
  std::byte* result[2] = {};  ///< its slice of the combined chunk; two chunks in turn
  std::byte* memory = nullptr;
  ArenaHeader* header = nullptr;
};

/// The block and the stages that this member shares with a group.
struct OwnBlocks {
  ArenaBlock block{};
  ArenaBlock stages{};

  /// Allocates and initializes both for a group of `world`.
  static Result<OwnBlocks> allocate(Arena& arena, int world);
};

/// All members of a group by their rank in the group, and how many chunks the group has staged.
///
/// Threads: one collective at a time uses it.
/// Lifetime: the Neighbours must outlive it.
class GroupView {
 public:
  /// `members`: ranks on this host; `offsets`: of their blocks. kCorrupt if a block lies outside its arena.
  static Result<GroupView> of(Neighbours& neighbours, std::span<const int> members,
                              std::span<const std::uint64_t> offsets, const GroupFacts& facts);

  const GroupFacts& facts() const { return facts_; }
  int rank() const { return facts_.rank; }
  int size() const { return static_cast<int>(members_.size()); }
  const MemberView& member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  const MemberView& mine() const { return member(rank()); }
  const Arena& arena() const { return *arena_; }

  /// Stores `value` with release, then wakes sleeping members.
  void publish(std::atomic<std::uint64_t>& counter, std::uint64_t value) const {
    counter.store(value, std::memory_order_release);
    // A thread that goes to sleep forces a barrier on every core of its peers (see doorbell.h), so a compiler
    // fence is enough here.
    if (needs_fence_) {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    for (ArenaHeader* header : other_headers_) ring_if_asleep(*header);
  }

  std::uint64_t chunks = 0;  ///< staged by all calls so far; equal on all ranks between calls
  // One pointer per member, kept so that a call allocates nothing.
  std::vector<const std::byte*> sources{};
  std::vector<std::byte*> targets{};

 private:
  GroupFacts facts_;
  const Arena* arena_ = nullptr;
  std::vector<MemberView> members_;
  std::vector<ArenaHeader*> other_headers_;
  bool needs_fence_ = false;  // a member could not register with membarrier()
};

}  // namespace cohort::comm
