#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cohort {

/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), the checksum of frames and records. A checksum over
/// several pieces passes the result of each call as `before` of the next.
///
/// Cost: memory bandwidth with AVX-512 and VPCLMULQDQ; one instruction per 8 bytes with SSE 4.2; one table
/// look-up per byte without.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// One implementation of CRC-32C. `add` takes and returns the CRC register, which is the inverted checksum.
struct CrcKernel {
  const char* name;
  std::uint32_t (*add)(std::span<const std::byte> bytes, std::uint32_t crc);
};

/// The implementations that this machine has the instructions for, the fastest last.
std::vector<CrcKernel> crc_kernels();

/// A 64-bit hash (XXH3) that tells whether two states, files or replicas hold the same bytes. Not
/// cryptographic.
///
/// Threads: one at a time.
/// Cost: memory bandwidth.
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

/// The ContentHash of a single span.
std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace cohort
