#pragma once

#include <cohort/error.h>

#include "launch/exit_status.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace cohort {

/// Why a job ended.
enum class JobEnd {
  kAllDone,      ///< every rank exited with 0
  kRankFailed,   ///< a rank failed, and the rest were ended
  kInterrupted,  ///< a signal told the launcher to end it
  kTimedOut,     ///< its time was over
  kUnread,       ///< nobody reads its output any more
  kHostLost,     ///< a host could not start its ranks, or was lost with them
};

/// What became of one rank.
struct RankOutcome {
  std::optional<ExitStatus> status{};    ///< none: it did not end even after SIGKILL
  bool was_stopped = false;              ///< by a signal, when the job was ended
  std::deque<std::string> last_lines{};  ///< of both its streams, in the order they were read
};

/// A host that said nothing of its ranks in the end.
struct LostHost {
  std::string name{};
  std::string why{};
  std::deque<std::string> last_lines{};  ///< of what started the ranks there
  std::optional<std::string> version{};  ///< of Cohort there, if it is another one than here
};

/// What became of a job.
struct JobOutcome {
  JobEnd end = JobEnd::kAllDone;
  std::optional<int> first_failed{};    ///< the rank that failed first, of its own accord
  std::optional<int> interrupted_by{};  ///< the signal
  std::vector<RankOutcome> ranks{};     ///< by rank
  std::vector<std::string> hosts{};     ///< by rank; empty: all on this one
  std::optional<LostHost> lost_host{};
  std::optional<Error> output_failure{};  ///< output that could not be written

  /// Whether every rank has ended and was reaped.
  bool is_over() const;
  /// What a launcher exits with: 0; the exit code of the rank that failed first, or 128 plus its signal; 128
  /// plus the signal that interrupted; 1 where time, reader or room for the output ran out.
  int exit_code() const;
  /// What people are told when something went wrong, in whole lines; empty if nothing did.
  std::string summary() const;
};

}  // namespace cohort
