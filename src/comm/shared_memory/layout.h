#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// What members of a job lay down in each other's sight. docs/shared-memory.md has the protocol and its proof.
// Only the owner of an arena writes these, except for the doorbell, which anybody rings, and output buffers
// of reductions.

namespace cohort::comm {

inline constexpr std::size_t kLine = 64;  ///< what two cores pass to each other at a time

/// The first page of every arena.
struct ArenaHeader {
  alignas(kLine) std::atomic<std::uint32_t> doorbell{0};  ///< a futex: changes when rung
  std::atomic<std::uint32_t> sleepers{0};                 ///< threads that want to be rung
  std::uint32_t passes_barriers = 0;  ///< 1: the kernel makes its threads pass a barrier when a peer wants it
  alignas(kLine) std::atomic<std::uint64_t> heartbeat{0};
  std::atomic<std::uint64_t> first_block{0};  ///< where its block of the first group lies; 0: not yet
  std::atomic<std::uint64_t> rings{0};  ///< where its rings to the others lie, one per rank; 0: none yet
};

/// What a member posts of a call: all of it in one line, together with the first bytes of a small input.
struct alignas(kLine) Posting {
  std::atomic<std::uint64_t> sequence{0};  ///< written last: everything else here belongs to this call
  std::uint64_t what = 0;                  ///< operation, dtype, reduce op, root and flags: see agreement.h
  std::uint64_t count = 0;                 ///< elements, as the operation defines it
  std::uint32_t detail = 0;                ///< a hash of counts where they must be equal
  std::uint32_t rounds = 0;                ///< how many chunks it needs if the call is staged
  std::uint64_t input = 0;                 ///< offset in the arena of its owner, if it lies there
  std::uint64_t output = 0;
  // A small input begins here and goes on behind.
  static constexpr std::size_t kInlineBytes = 4096 + 16;
  alignas(16) std::array<std::byte, kInlineBytes> payload{};
};
static_assert(offsetof(Posting, payload) == 48);
static_assert(sizeof(Posting) % kLine == 0);

/// How far a member has come; they only ever grow.
struct Counters {
  alignas(kLine) std::atomic<std::uint64_t> finished{
      0};  ///< calls whose buffers of others it no longer touches
  alignas(kLine) std::atomic<std::uint64_t> staged{0};    ///< chunks it has laid down
  alignas(kLine) std::atomic<std::uint64_t> reduced{0};   ///< chunks of which it has combined its slice
  alignas(kLine) std::atomic<std::uint64_t> consumed{0};  ///< chunks it has taken over
  /// Set when it leaves a call that is not over: its caller may change the numbers from then on.
  alignas(kLine) std::atomic<std::uint32_t> given_up{0};
};

/// Where a part of a ragged input lies.
struct PartEntry {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// What one member lays down for one group: this, then `world` part entries for each of two calls; the stages
/// lie apart. Two of each: a member can be one call, or one chunk, ahead of another, never two.
struct MemberBlock {
  std::uint64_t stages = 0;  ///< where its stages lie; never changes
  Counters counters{};
  std::array<Posting, 2> postings{};
};

}  // namespace cohort::comm
