#pragma once

#include "launch/rank_output.h"
#include "launch/writer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort::launch {

/// How the lines of the ranks are told apart where they share two streams.
struct SharedOutputOptions {
  /// By rank, what stands before each line; empty: the bytes pass as they come.
  std::vector<std::string> output_prefixes{};
  std::vector<std::string> error_output_prefixes{};
  /// Where there are prefixes, a rank that has none: its bytes pass as they come, so that it may write over
  /// its line on a terminal. What it has begun of a line is ended before a line of another rank.
  std::optional<int> live_rank{};
};

/// The output of all ranks to our standard output and standard error, as it comes. With prefixes, in whole
/// lines: none is torn by another rank's.
std::unique_ptr<RankOutput> make_shared_output(Writer output, Writer error_output,
                                               const SharedOutputOptions& options);

}  // namespace cohort::launch
