#pragma once

#include <cohort/error.h>

#include <cstddef>
#include <span>
#include <vector>

namespace cohort::comm {

// An error on its way to another member, little endian:
//
//   u32  code, as its place in ErrorCode
//   u32  number of levels, 1 … 16, the outermost first
//        for each level: u32 length, that many bytes of text
//   u32  length of the remedy, that many bytes of text
//
// No text is longer than 4096 bytes: longer ones are cut. Source places stay behind.

/// The longest encoding there is.
inline constexpr std::size_t kCarriedErrorCap = 8 + (16 + 1) * (4 + 4096);

std::vector<std::byte> encode(const Error& error);
/// The error that was encoded; for anything else a kCorrupt one that says so.
Error decode_error(std::span<const std::byte> bytes);

}  // namespace cohort::comm
