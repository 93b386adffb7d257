#pragma once

#include "checkpoint/manifest.h"
#include "storage/file_system.h"

#include <cstdint>
#include <string>
#include <vector>

// The state of the snapshots in tests/checkpoint/golden, as formulas. Snapshots of steps 3 (full) and 4 (a
// difference) were written by two ranks; they must never change.

namespace cohort::test {

/// A tensor of the golden state.
struct GoldenTensor {
  std::string name{};
  DType dtype = DType::kF32;
  Shape shape{};
  std::vector<Slice> held{};  ///< by each rank
  std::uint64_t seed = 0;     ///< 0: all elements are the same
  Merge merge = Merge::kSame;
  std::size_t first_changed = 0;  ///< the elements that step 4 changes
  std::size_t end_changed = 0;
};

std::vector<GoldenTensor> golden_tensors();

/// The bytes of all elements after a step, as a reader of the snapshot gets them.
std::vector<std::byte> golden_bytes(const GoldenTensor& tensor, std::int64_t step);
/// The bytes of the elements that a rank holds after a step.
std::vector<std::byte> golden_bytes_of(const GoldenTensor& tensor, std::int64_t step, int rank);

checkpoint::Course golden_course(std::int64_t step);

/// Writes the golden snapshots into an empty folder, as two ranks.
Status write_golden(FileSystem& files, const std::string& folder);

/// The state of the example in docs/disk-format.md, and the snapshot of it, in
/// tests/checkpoint/golden/example.
Status write_example(FileSystem& files, const std::string& folder);

}  // namespace cohort::test
