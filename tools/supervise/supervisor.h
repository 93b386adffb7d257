#pragma once

#include "base/clock.h"
#include "launch/environment.h"
#include "supervise/job_outcome.h"
#include "supervise/lines.h"
#include "supervise/process.h"
#include "supervise/rank_output.h"
#include "supervise/rank_variables.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace cohort {

/// A program to run as several ranks on this host.
struct JobPlan {
  std::vector<std::string> argv{};  ///< the program and its arguments, the same for every rank
  int ranks = 1;                    ///< the number of ranks on this host
  int first_rank = 0;               ///< the rank number of the first rank on this host
  std::optional<int> world{};       ///< the number of ranks on all hosts; if absent, `ranks`
  RoleFacts roles{};                ///< of the ranks on all hosts
  RankLoss rank_loss = RankLoss::kEnd;
  EnvironmentVariables environment{};  ///< the environment of every rank
  EnvironmentVariables settings{};     ///< added to it, also on other hosts
  std::string rendezvous{};            ///< the value of COHORT_RENDEZVOUS
  std::optional<int> key{};            ///< a descriptor from which the job's key can be read
  std::vector<int> pinned_cores{};     ///< divided among the ranks; empty: ranks are not pinned
  std::chrono::nanoseconds grace = std::chrono::seconds(5);  ///< between the signal to end and SIGKILL
  std::optional<std::chrono::nanoseconds> limit{};           ///< for the whole job
};

/// Runs a job on this host: starts its ranks, passes their output on, and ends all of them when one fails,
/// unless JobPlan::rank_loss says otherwise.
///
/// Each rank leads a process group. After the end of a rank the rest of its group is killed. Ending a job
/// means: a signal to every group, a grace period for ranks and their descendants, then SIGKILL.
///
/// Threads: run() once, on a thread that must live as long as the job; interrupt() from any thread, but not
/// from a signal handler.
/// Lifetime: the output must outlive the supervisor. The destructor kills all ranks that still run and waits
/// for them.
/// Failure: run() reports ranks that could not be started, after ending those that were; failures of running
/// ranks are in the outcome. A rank that still exists ten seconds after SIGKILL has no exit status in the
/// outcome, and the destructor would wait for it.
/// Cost: a thread and some descriptors per rank.
class Supervisor {
 public:
  Supervisor(JobPlan plan, supervise::RankOutput& output);
  ~Supervisor();

  Result<JobOutcome> run();
  /// Ends the job: sends SIGINT to each rank if `signal` is SIGINT, and SIGTERM otherwise. A second call ends
  /// the job at once, without grace and without waiting for the reader of the output.
  void interrupt(int signal);

 private:
  struct Rank {
    std::optional<Process> process{};  // until the rank has ended and the rest of its group was killed
    // While the process runs, only its thread uses these.
    supervise::LastLines last_output{};
    supervise::LastLines last_error_output{};
    std::optional<ExitStatus> status{};
    std::optional<TimePoint> ended_at{};
    bool was_stopped = false;  // the rank was stopped when the job was ended
    std::thread release{};  // kills and reaps the rest of the group and writes the last line; both may block
    bool is_released = false;  // guarded by the mutex
  };

  Status start(int number);
  void take(int number, supervise::Stream stream, std::string_view piece);
  void note(const Status& output_status);
  void wake();

  JobEnd wait_for_end();
  std::optional<JobEnd> reason_to_end();
  /// Waits for an event until `deadline`; returns false if there was none.
  bool wait_for_event(TimePoint deadline);

  enum class Leftovers { kKill, kSpare };
  /// Records ranks that have ended. A rank whose descendants still run is recorded only with
  /// Leftovers::kKill.
  void collect(Leftovers leftovers);
  void start_release(int number);
  void release(int number, Process process) noexcept;
  bool all_released() const;

  void end_all();
  void signal_all(int number);
  void wait_for_grace();
  void wait_after_kill();
  int interruptions();
  JobOutcome outcome(JobEnd end) const;
  /// The rank that failed first among those that `predicate` is true for.
  template <class Predicate>
  std::optional<int> first_ended(Predicate predicate) const;
  std::optional<int> first_failed() const;

  const JobPlan plan_;
  supervise::RankOutput& output_;
  std::deque<Rank> ranks_;  // a deque, because threads hold references to ranks
  std::optional<TimePoint> ending_since_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool has_event_ = false;
  int interruptions_ = 0;
  std::optional<int> interrupted_by_;
  std::optional<Error> output_failure_;
};

}  // namespace cohort
