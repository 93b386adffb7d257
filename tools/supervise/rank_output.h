#pragma once

#include "base/result.h"
#include "supervise/writer.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::supervise {

enum class Stream { kOutput, kErrorOutput };

/// The destination of the output of a job's ranks.
///
/// Threads: take() from one thread per rank at a time; the other methods from any thread.
/// Failure: take() and finish() report bytes that could not be written, and may be called again; kAborted
/// means that the reader has closed the output.
class RankOutput {
 public:
  virtual ~RankOutput() = default;

  /// Writes the next bytes of a stream; may block while the reader does not read.
  virtual Status take(int rank, Stream stream, std::string_view piece) = 0;
  /// Ends the output of a rank: nothing more comes from it.
  virtual Status finish(int rank) = 0;
  /// Ends every blocked call; bytes that cannot be written at once are dropped from now on.
  virtual void give_up() = 0;
};

/// How the lines of ranks that share two streams are told apart.
struct SharedOutputOptions {
  /// The prefix of each line, indexed by rank; empty: bytes are written as they come.
  std::vector<std::string> output_prefixes{};
  std::vector<std::string> error_output_prefixes{};
  /// A rank without a prefix: its bytes are written as they come, so that it can overwrite its progress line
  /// on a terminal. A line that it left unfinished is ended before a line of another rank.
  std::optional<int> live_rank{};
};

/// Writes the output of all ranks to two streams as it comes. With prefixes only whole lines are written, so
/// lines of different ranks never mix.
std::unique_ptr<RankOutput> make_shared_output(Writer output, Writer error_output,
                                               const SharedOutputOptions& options);

/// Writes each stream of each rank to a file of its own: FOLDER/rank-0.out, FOLDER/rank-0.err, … Creates the
/// folder if needed and overwrites existing files.
Result<std::unique_ptr<RankOutput>> make_file_output(const std::string& folder, int ranks);

}  // namespace cohort::supervise
