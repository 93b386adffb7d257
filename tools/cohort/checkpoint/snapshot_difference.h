#pragma once

#include "checkpoint/compare.h"

#include <string>
#include <vector>

namespace cohort::tool {

/// A value that two snapshots have differently, as text.
struct OtherValue {
  std::string name{};
  std::string in_a{};
  std::string in_b{};
};

/// A tensor that two snapshots have, with other elements.
struct OtherTensor {
  std::string name{};
  checkpoint::Difference difference{};
};

/// The difference of two snapshots.
struct SnapshotDifference {
  std::vector<OtherTensor> tensors{};
  std::vector<OtherValue> types{};  ///< of tensors with other types or shapes
  std::vector<std::string> only_in_a{};
  std::vector<std::string> only_in_b{};
  std::vector<OtherValue> facts{};
  std::size_t num_same = 0;  ///< tensors

  bool has_same_tensors() const {
    return tensors.empty() && types.empty() && only_in_a.empty() && only_in_b.empty();
  }
};

/// Compares all tensors and facts of two snapshots, whatever their layouts are.
Result<SnapshotDifference> difference_of(const checkpoint::SnapshotTensors& a,
                                         const checkpoint::SnapshotTensors& b,
                                         const checkpoint::BytesRead& report);

}  // namespace cohort::tool
