#pragma once

#include "base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cohort::comm {

/// The first packet on a connection between two members of a host; the arena's descriptor comes with it.
struct Hello {
  std::uint32_t rank = 0;
  std::uint32_t world = 0;
  std::uint32_t generation = 0;
  std::uint64_t arena_bytes = 0;

  // magic 8 | version 4 | rank 4 | world 4 | generation 4 | arena_bytes 8, little endian
  static constexpr std::size_t kSize = 32;
  std::array<std::byte, kSize> encode() const;
  static Result<Hello> decode(std::span<const std::byte> bytes);
};

}  // namespace cohort::comm
