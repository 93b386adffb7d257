#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cohort {

/// CRC-32C (Castagnoli, reflected 0x82F63B78): guards frames and records against bit errors. Pass the result
/// of one call as `before` of the next to go on over several pieces.
/// Cost: memory speed with AVX-512 and VPCLMULQDQ, one instruction per 8 bytes with SSE 4.2, one table
/// look-up per byte without.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// A 64-bit hash of content (XXH3): tells whether two states, files or replicas hold the same bytes. Not
/// cryptographic.
///
/// Threads: one at a time.
/// Cost: memory speed.
class ContentHash {
 public:
  explicit ContentHash(std::uint64_t seed = 0);
  ~ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) noexcept;

  void add(std::span<const std::byte> bytes);
  /// The hash of everything added so far; more may be added afterwards.
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The ContentHash of one span.
std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace cohort
