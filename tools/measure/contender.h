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
  std::span<float> output{};  ///< where an operation works in place: input before, result after
  int root = 0;
};

/// The buffers of all calls of one batch.
struct Memory {
  std::span<float> input{};
  std::span<float> output{};
};

/// A communication library in one rank process, as the measuring loop sees it. Its operations block.
///
/// Threads: one.
/// Failure: kUnsupported means that the library has no such operation or kind; any other failure ends the
/// benchmark.
class Contender {
 public:
  virtual ~Contender() = default;

  /// Provides that many elements and frees the previous memory. Called on every rank with the same arguments,
  /// in the same order.
  virtual Result<Memory> allocate(const std::string& kind, const BufferSizes& elements) = 0;
  /// The barrier of the library.
  virtual Status align() = 0;
  virtual Status perform(const Turn& turn) = 0;
  /// Buffers and expected results of a call. A contender that does not communicate overrides this.
  virtual CallShape shape(BenchOperation operation, std::size_t elements, const Seat& seat) const;
};

/// Samples of one rank: for every iteration, writes new values into all buffers, synchronizes the ranks,
/// times `batch` calls back to back, and checks every element of every result.
Result<Times> measure_run(Contender& contender, const RunCommand& command, int rank, int ranks);

/// Greets the controller and answers each of its lines until the controller sends `end` or closes the
/// connection.
Status serve_lines(LineSocket& controller, const Hello& hello,
                   const std::function<std::string(const std::string& line)>& answer);

/// Greets the controller and carries out its commands until the controller sends `end` or closes the
/// connection.
Status serve_controller(LineSocket& controller, Contender& contender, const Hello& hello);

/// Pins the calling thread, and the threads that it starts, to one of its allowed cores: the rank-th in
/// ascending order, round robin when there are more ranks than cores.
Status pin_to_core_of(int rank);

}  // namespace cohort::measure
