#pragma once

#include <cohort/error.h>

#include "supervise/process_result.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace cohort {

/// The action of a launcher when a rank ends with a failure.
enum class RankLoss {
  kEnd,   ///< ends all other ranks
  kTell,  ///< lets the others go on, and tells them if they ask: see Context::survivors()
};

/// Why a job ended.
enum class JobEnd {
  kAllDone,      ///< every rank exited with 0; with RankLoss::kTell, all that were not killed did
  kRankFailed,   ///< a rank failed, and the rest were ended
  kInterrupted,  ///< the launcher received a signal
  kTimedOut,     ///< the time limit of the job has passed
  kUnread,       ///< the reader of the job's output has closed it
  kHostLost,     ///< a host could not start its ranks, or the connection to it was lost
};

/// How one rank ended.
struct RankOutcome {
  std::optional<ExitStatus> status{};     ///< empty: the rank did not end even after SIGKILL
  bool was_stopped = false;               ///< stopped by SIGSTOP or alike at the time the job was ended
  std::deque<std::string> last_output{};  ///< the last lines of standard output
  /// The last lines of standard error: kept apart, because a program that fails often writes the reason there
  /// and flushes its standard output afterwards.
  std::deque<std::string> last_error_output{};
};

/// A host that did not report how its ranks ended.
struct LostHost {
  std::string name{};
  std::string why{};
  std::deque<std::string> last_lines{};  ///< of the program that started the agent
  std::optional<std::string> version{};  ///< the version of Cohort on that host, if it differs from ours
};

/// Whether a rank failed because another rank failed: it exited with kFollowedExitCode.
bool has_followed(const RankOutcome& rank);

/// Whether the end of a rank is a failure of its own even if the job was being ended: not 0, not
/// kFollowedExitCode, not 128 or more, as programs exit after a signal, and no signal that launchers send.
bool has_failed_itself(const RankOutcome& rank);

/// Whether all ranks stopped as they were told, after their state was saved: they exited with
/// kStoppedExitCode.
bool have_stopped(const std::vector<RankOutcome>& ranks);

/// Whether a job whose ranks may be lost has reached its end: at least one rank exited with 0, and all others
/// did, too, or were lost: killed by a signal, or not heard of again.
bool has_reached_its_end(const std::vector<RankOutcome>& ranks);

/// How a job ended.
struct JobOutcome {
  JobEnd end = JobEnd::kAllDone;
  /// The first rank that failed by itself, not because the job was ended or another rank failed.
  std::optional<int> first_failed{};
  std::optional<int> interrupted_by{};  ///< the signal that the launcher received
  std::vector<RankOutcome> ranks{};     ///< indexed by rank
  std::vector<std::string> hosts{};     ///< indexed by rank; empty: all ranks are on this host
  std::optional<LostHost> lost_host{};
  std::optional<Error> output_failure{};  ///< an error from writing the output of the ranks
  /// Ranks that failed while others went on to a good end.
  std::vector<int> lost_on_the_way() const;

  /// Whether every rank has ended and was reaped.
  bool is_over() const;
  /// The exit code of the launcher: 0; the exit code of the rank that failed first, or 128 plus its signal;
  /// 128 plus the signal that interrupted the job; 1 where the time limit passed or the output could not be
  /// written.
  int exit_code() const;
  /// The report for people when a job failed or lost ranks, in whole lines; empty after success without loss.
  std::string summary() const;
};

/// The outcome on one host of a job on several hosts.
struct HostEnd {
  int first_rank = 0;
  const JobOutcome* outcome = nullptr;
};

/// The rank that made a job on several hosts fail, numbered in the whole job. The hosts are in the order of
/// their reports.
///
/// Hosts report within milliseconds of each other, so the report of a rank that failed as a consequence may
/// come before that of the cause. A killed rank is a cause; a rank that has_followed() is none while another
/// rank failed. With RankLoss::kTell the others went on without killed ranks: a rank that exited with an
/// error is the cause then.
std::optional<int> blamed_rank(const std::vector<HostEnd>& hosts, RankLoss rank_loss);

}  // namespace cohort
