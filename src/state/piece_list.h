#pragma once

#include "base/result.h"
#include <cohort/state.h>

#include <cstddef>
#include <span>
#include <vector>

namespace cohort::state {

// Descriptions of pieces in a message between ranks, little endian:
//
//   u32  number of pieces; for each piece:
//        u32 length, that many bytes of name
//        u8 index in DType; u8 index in Merge
//        u32 number of dimensions, a u64 for each
//        u32 number of boxes; for each box a u64 per dimension for its first index, then a u64 per dimension
//        for its length
//        u64 first element of the range; u64 number of elements

/// Names, types, shapes, slices and merge rules of the pieces, without their bytes.
std::vector<std::byte> encode(std::span<const Piece> pieces);
/// The pieces that were encoded.
///
/// Failure: kCorrupt, with the field that is wrong. Slices are not compared with shapes.
Result<std::vector<Piece>> decode_pieces(std::span<const std::byte> bytes);

}  // namespace cohort::state
