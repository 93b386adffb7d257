#pragma once

#include "base/result.h"

#include <string_view>

namespace cohort::launch {

enum class Stream { kOutput, kErrorOutput };

/// Where the output of the ranks of a job goes.
///
/// Threads: take() from one thread per rank at a time; the rest from any.
/// Failure: take() and finish() report what cannot be written and go on with what comes next; kAborted says
/// that nobody reads any more.
class RankOutput {
 public:
  virtual ~RankOutput() = default;

  /// The next bytes of a stream, whatever they are; may block while the reader does not read.
  virtual Status take(int rank, Stream stream, std::string_view piece) = 0;
  /// Nothing comes from this rank any more.
  virtual Status finish(int rank) = 0;
  /// Ends every blocked call; from now on what cannot be written at once is let go.
  virtual void give_up() = 0;
};

}  // namespace cohort::launch
