#pragma once

#include "checkpoint/manifest.h"

#include <span>
#include <string>
#include <vector>

namespace cohort::checkpoint {

/// A line of a header that the manifest contradicts.
struct HeaderMistake {
  std::string tensor{};  ///< the name in the file; empty: not of one tensor
  std::string reason{};
};

/// The pieces of a file as their bytes follow each other.
std::vector<const StoredPiece*> in_order_of_bytes(const Shard& shard);

/// Where the header of a file, with the length in front of it, says other things than the manifest about the
/// names, types, shapes and places of tensors. Pure.
std::vector<HeaderMistake> header_mistakes(std::span<const std::byte> bytes, const Shard& shard);

}  // namespace cohort::checkpoint
