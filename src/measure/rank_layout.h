#pragma once

#include "measure/bench_operation.h"
#include "measure/pattern.h"

#include <vector>

namespace cohort::measure {

/// What an output buffer holds before a call.
enum class Before { kPoison, kOwnValues };

/// How large the buffers of an operation are: the same on every rank, whatever its part.
struct BufferSizes {
  std::size_t input = 0;   ///< elements; none where the operation works in place
  std::size_t output = 0;  ///< elements
};

BufferSizes buffer_sizes(BenchOperation operation, std::size_t elements, int ranks);

/// all_reduce and broadcast work in place: the output holds the rank's own values before.
Before output_before(BenchOperation operation);

/// Who does one call together, and who of them asks.
struct Seat {
  int rank = 0;
  int ranks = 1;
  int root = 0;
};

/// What the output of the rank must hold after a call; nothing where it gets nothing.
std::vector<Piece> expected_pieces(BenchOperation operation, std::size_t elements, const Seat& seat);

/// All of the above for one rank in one call.
struct CallShape {
  BufferSizes sizes{};
  Before before = Before::kPoison;
  std::vector<Piece> expected{};
};

CallShape call_shape(BenchOperation operation, std::size_t elements, const Seat& seat);

/// The other rank of a pair in send_receive; itself if the last of an odd number has none.
int partner_of(int rank, int ranks);

}  // namespace cohort::measure
