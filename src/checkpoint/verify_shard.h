#pragma once

#include "checkpoint/manifest.h"
#include "storage/file_system.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cohort::checkpoint {

/// A place of a snapshot that is not as it was written.
struct Damage {
  std::string file{};    ///< seen from the folder of the snapshot
  std::string tensor{};  ///< empty: not of one tensor
  std::string reason{};  ///< a clause with the expected and the found value

  bool operator==(const Damage&) const = default;
};

/// Gets the number of bytes that were read since its last call.
using BytesChecked = std::function<void(std::uint64_t bytes)>;

/// Compares all bytes of a file with its entry in the manifest: length, header, the blocks of each tensor,
/// the file as a whole. An empty result: the file is as it was written.
///
/// Cost: reads the file once; memory for one block, and for compressed tensors one at a time.
std::vector<Damage> verify_shard(FileSystem& files, const std::string& path, const Shard& shard,
                                 const BytesChecked& report);

}  // namespace cohort::checkpoint
