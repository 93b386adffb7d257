#pragma once

#include "checkpoint/whole_tensors.h"

#include <cstdint>
#include <functional>

namespace cohort::checkpoint {

/// How the elements of two tensors of the same type and shape differ.
struct Difference {
  std::uint64_t num_elements = 0;
  /// Elements with other bytes. Two values that are not a number count as the same.
  std::uint64_t num_different = 0;
  std::uint64_t num_nan = 0;  ///< elements that are not a number in one of the two alone
  /// The largest |a − b|, and the root of the mean of (a − b)². A pair with a value that is not a number
  /// counts as 0 there.
  double max_abs = 0;
  double rms = 0;
};

/// Gets the number of bytes that were read since its last call.
using BytesRead = std::function<void(std::uint64_t bytes)>;

/// Compares two tensors, whatever the layouts are in which they were written.
///
/// Failure: as WholeTensors::read().
/// Cost: memory for a window of both tensors.
Result<Difference> compare(const WholeTensors& a, const WholeTensor& in_a, const WholeTensors& b,
                           const WholeTensor& in_b, const BytesRead& report);

}  // namespace cohort::checkpoint
