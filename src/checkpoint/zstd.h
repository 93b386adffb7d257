#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cohort::checkpoint {

/// One frame of zstd with these bytes.
std::vector<std::byte> compressed(std::span<const std::byte> bytes);

/// The bytes of a frame.
///
/// Failure: kCorrupt for anything but one frame of exactly `size_bytes` bytes; no memory is allocated for a
/// frame that claims another number.
Result<std::vector<std::byte>> decompressed(std::span<const std::byte> frame, std::uint64_t size_bytes);

}  // namespace cohort::checkpoint
