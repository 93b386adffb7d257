#pragma once

#include "comm/conformance/kind.h"
#include "comm/conformance/values.h"

#include <cstddef>

namespace cohort::test {

enum class Placement { kApart, kInPlace };
enum class Cut { kEqual, kRagged };

/// One collective call whose result is known.
struct Trial {
  Operation operation = Operation::kBarrier;
  DType dtype = DType::kF32;
  ReduceOp op = ReduceOp::kSum;
  std::size_t count = 0;  ///< elements of the buffer, or of each part; about this many if parts differ
  int root = 0;
  Placement placement = Placement::kApart;
  Cut cut = Cut::kEqual;

  std::string text() const;
};

/// Makes the call on this rank and checks the result bit for bit, the margins, and the input if it does not
/// overlap the output.
Status run_trial(Seat& seat, const Trial& trial);

/// The counts of a trial, by rank: equal, or of different lengths, some of them zero.
std::vector<std::size_t> counts_of(const Trial& trial, int world);

}  // namespace cohort::test
