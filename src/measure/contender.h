#pragma once

#include "base/result.h"
#include "measure/line_socket.h"
#include "measure/protocol.h"
#include "measure/rank_layout.h"

#include <functional>
#include <span>
#include <string>

namespace cohort::measure {

/// One call of the measured operation on one rank.
struct Turn {
  BenchOperation operation = BenchOperation::kAllReduce;
  std::span<float> input{};
  std::span<float> output{};  ///< where an operation works in place, both before and after
  int root = 0;
};

/// The memory of all calls of one batch.
struct Memory {
  std::span<float> input{};
  std::span<float> output{};
};

/// A library in one rank process, as the measuring loop sees it. Its operations are blocking.
///
/// Threads: one.
/// Failure: kUnsupported says that the library has no such operation or kind; anything else ends the bench.
class Contender {
 public:
  virtual ~Contender() = default;

  /// Memory of that many elements, replacing what was given before. Called on every rank with the same
  /// arguments, in the same order.
  virtual Result<Memory> allocate(const std::string& kind, const BufferSizes& elements) = 0;
  /// A barrier of the library.
  virtual Status align() = 0;
  virtual Status perform(const Turn& turn) = 0;
  /// Buffers and results of a call; a contender that does not communicate has its own.
  virtual CallShape shape(BenchOperation operation, std::size_t elements, const Seat& seat) const;
};

/// Samples of one rank: for every iteration, writes new values into all buffers, aligns the ranks, takes the
/// time of `batch` calls back to back, and checks every number of every result.
Result<Times> measure_run(Contender& contender, const RunCommand& command, int rank, int ranks);

/// Greets the controller and answers each of its lines until it says `end` or is gone.
Status serve_lines(LineSocket& controller, const Hello& hello,
                   const std::function<std::string(const std::string& line)>& answer);

/// Greets the controller and does what it says until it says `end` or is gone.
Status serve_controller(LineSocket& controller, Contender& contender, const Hello& hello);

}  // namespace cohort::measure
