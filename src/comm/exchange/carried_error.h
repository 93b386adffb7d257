#pragma once

#include <cohort/error.h>

#include <cstddef>
#include <span>
#include <vector>

namespace cohort::comm {

// An error in the payload of a message, little endian:
//
//   u32  code, the index in ErrorCode
//   u32  number of levels, 1 … 16, the outermost first
//        for each level: u32 length, that many bytes of text
//   u32  length of the remedy, that many bytes of text
//   u32  1 + the rank that the error is about, 0 if it is about no rank
//
// Texts longer than 4096 bytes are cut. Source locations are not sent.

std::vector<std::byte> encode(const Error& error);
/// The error that was encoded. For other bytes: a kCorrupt error that says what is wrong with them.
Error decode_error(std::span<const std::byte> bytes);

}  // namespace cohort::comm
