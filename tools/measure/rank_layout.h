#pragma once

#include "measure/bench_operation.h"
#include "measure/pattern.h"

#include <vector>

namespace cohort::measure {

/// The content of an output buffer before a call.
enum class Before { kPoison, kOwnValues };

/// The size of the buffers of an operation: the same on every rank, whatever its role.
struct BufferSizes {
  std::size_t input = 0;   ///< elements; 0 where the operation works in place
  std::size_t output = 0;  ///< elements
};

BufferSizes buffer_sizes(BenchOperation operation, std::size_t elements, int ranks);

/// The content of the output buffer before a call: the rank's own values for all_reduce and broadcast, which
/// work in place.
Before output_before(BenchOperation operation);

/// The ranks of one call, and the one of them that is meant.
struct Seat {
  int rank = 0;
  int ranks = 1;
  int root = 0;
};

/// The expected content of the output of the rank after a call; empty where the rank receives nothing.
std::vector<Piece> expected_pieces(BenchOperation operation, std::size_t elements, const Seat& seat);

/// Sizes, initial content and expected result for one rank in one call.
struct CallShape {
  BufferSizes sizes{};
  Before before = Before::kPoison;
  std::vector<Piece> expected{};
};

CallShape call_shape(BenchOperation operation, std::size_t elements, const Seat& seat);

/// The partner of a rank in send_receive; the rank itself if it is the last of an odd number.
int partner_of(int rank, int ranks);

}  // namespace cohort::measure
