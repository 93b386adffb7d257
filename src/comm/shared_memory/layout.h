#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// The layout of shared memory. docs/shared-memory.md has the protocol and its proof. Only the owner of an
// arena writes these structs, except for the doorbell, which every member rings. Output buffers of reductions
// are written by all members.

namespace cohort::comm {

inline constexpr std::size_t kCacheLine = 64;  ///< bytes that move between cores at a time

inline constexpr int kMostMembers = 1024;  ///< of one host

/// The ballot of a member while the members look for survivors; world/ballot.h has the rules. Sets only grow,
/// so readers need no lock: a set that is read halfway through a change lies between two true ones.
struct BallotSlot {
  using Set = std::array<std::atomic<std::uint64_t>, kMostMembers / 64>;

  std::atomic<std::uint64_t> about{0};     ///< 1 + the generation that the ballot is about; 0: no ballot yet
  std::atomic<std::uint32_t> is_final{0};  ///< set after the sets
  Set gone{};
  Set silent{};
};

/// The first page of every arena.
struct ArenaHeader {
  alignas(kCacheLine) std::atomic<std::uint32_t> doorbell{0};  ///< a futex: changes when rung
  std::atomic<std::uint32_t> sleepers{0};                      ///< threads that sleep, or are about to
  std::uint32_t passes_barriers = 0;                           ///< 1: registered with membarrier()
  alignas(kCacheLine) std::atomic<std::uint64_t> heartbeat{0};
  std::atomic<std::uint64_t> first_block{0};  ///< offset of its block of the first group; 0: not yet
  std::atomic<std::uint64_t> rings{0};        ///< offset of its rings, one per rank; 0: not yet
  alignas(kCacheLine) std::atomic<std::uint32_t> has_left{0};  ///< 1: takes part in no later generation
  std::array<BallotSlot, 2> ballots{};                         ///< of even and of odd generations
};

/// The call of one member, as it shows it to the others: one cache line that also holds the first bytes of a
/// small input.
struct alignas(kCacheLine) Posting {
  std::atomic<std::uint64_t> sequence{0};  ///< written last: all other fields belong to this call
  std::uint64_t call = 0;                  ///< operation, dtype, reduce op, root and offer: see pack()
  std::uint64_t count = 0;                 ///< elements: see posted_count()
  std::uint32_t detail = 0;                ///< checksum of counts: see posted_detail()
  std::uint32_t rounds = 0;                ///< chunks that a staged call would need
  std::uint64_t input = 0;                 ///< offset in the owner's arena, if it lies there
  std::uint64_t output = 0;
  // A small input; longer ones continue in the following cache lines.
  static constexpr std::size_t kInlineBytes = 4096 + 16;
  alignas(16) std::array<std::byte, kInlineBytes> payload{};
};
static_assert(offsetof(Posting, payload) == 48);
static_assert(sizeof(Posting) % kCacheLine == 0);

/// The progress of one member. Counters only grow.
struct Counters {
  alignas(kCacheLine) std::atomic<std::uint64_t> finished{
      0};  ///< calls in which it no longer touches buffers of others
  alignas(kCacheLine) std::atomic<std::uint64_t> staged{0};    ///< chunks it has staged
  alignas(kCacheLine) std::atomic<std::uint64_t> reduced{0};   ///< chunks whose slice it has combined
  alignas(kCacheLine) std::atomic<std::uint64_t> consumed{0};  ///< chunks it has read
  /// Set when the member leaves a call before its end: its caller may change the buffers from then on.
  alignas(kCacheLine) std::atomic<std::uint32_t> given_up{0};
};

/// A part of a ragged input, in elements.
struct PartEntry {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// The memory that one member shares with one group: this struct, then `world` part entries for each of two
/// calls. The stages are a block of their own. Everything exists twice because a member can be one call, or
/// one chunk, ahead of another, never two.
struct MemberBlock {
  std::uint64_t stages = 0;  ///< offset of its stages; never changes
  Counters counters{};
  std::array<Posting, 2> postings{};
};

}  // namespace cohort::comm
