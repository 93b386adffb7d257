#pragma once

// Included by files that are compiled once for each instruction set, with compiler flags of their own:
// everything here is in an unnamed namespace, so that no copy replaces another at link time.

#include <bit>
#include <cstdint>

namespace cohort {
namespace {

// How the elements of a dtype are read and written: `Value` is the type of the arithmetic.
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static Value load(Stored stored) { return stored; }
  static Stored store(Value value) { return value; }
};

// Without branches, so that loops over it become vector code. Rounds to nearest, ties to even; a NaN becomes
// a quiet NaN. A test compares it with the plain arithmetic of tests/base/float16.h.
struct BFloat16 {
  using Stored = std::uint16_t;
  using Value = float;
  static Value load(Stored stored) { return std::bit_cast<float>(std::uint32_t{stored} << 16); }
  static Stored store(Value value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const std::uint32_t quiet = (bits >> 16) | 0x40u;
    return static_cast<Stored>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
  }
};

struct Float16 {
  using Stored = std::uint16_t;
  using Value = float;
  static Value load(Stored stored) {
    // A multiplication adjusts the exponent, which also handles subnormal numbers.
    const std::uint32_t magnitude = (std::uint32_t{stored} & 0x7fffu) << 13;
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
    const std::uint32_t special = magnitude | 0x7f800000u;
    const std::uint32_t quiet = (magnitude & 0x007fffffu) != 0 ? 0x00400000u : 0u;
    const std::uint32_t bits =
        magnitude >= 0x0f800000u ? (special | quiet) : std::bit_cast<std::uint32_t>(scaled);
    return std::bit_cast<float>(bits | (std::uint32_t{stored} & 0x8000u) << 16);
  }
  static Stored store(Value value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    // Adding a number of the right size rounds subnormal results to the nearest, ties to even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u;
    const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    std::uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
    result = magnitude >= 0x47800000u ? 0x7c00u : result;
    result = magnitude > 0x7f800000u ? (0x7e00u | ((magnitude >> 13) & 0x3ffu)) : result;
    return static_cast<Stored>(result | sign);
  }
};

}  // namespace
}  // namespace cohort
