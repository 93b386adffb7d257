#pragma once

#include "base/clock.h"
#include "launch/job_outcome.h"
#include "launch/last_lines.h"
#include "launch/process.h"
#include "launch/rank_output.h"
#include "launch/rank_variables.h"

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
  std::vector<std::string> argv{};     ///< the program and its arguments, the same for every rank
  int ranks = 1;                       ///< on this host
  int first_rank = 0;                  ///< which of all ranks the first one here is
  std::optional<int> world{};          ///< all ranks, if there are others on other hosts
  EnvironmentVariables environment{};  ///< what every rank gets, before what tells it its place
  EnvironmentVariables settings{};     ///< what every rank gets besides, on other hosts, too
  std::string rendezvous{};            ///< as COHORT_RENDEZVOUS
  std::optional<int> key{};            ///< a descriptor that the job's key can be read from
  std::vector<int> pinned_cores{};     ///< shared out among the ranks; empty: no rank is pinned
  std::chrono::nanoseconds grace = std::chrono::seconds(5);  ///< between asking a rank to end and SIGKILL
  std::optional<std::chrono::nanoseconds> limit{};           ///< for the whole job
};

/// Runs a job: starts its ranks, hands their output on, and ends all of them when one fails.
///
/// Each rank leads a process group. When the rank has ended, what is left of its group is killed. Ending a
/// job means a signal to every group, the grace for ranks and their descendants, then SIGKILL.
///
/// Threads: run() once, on one thread, which must live as long as the job; interrupt() from any thread, but
/// not from a signal handler.
/// Lifetime: the output must outlive it. The destructor kills what still runs and waits for it.
/// Failure: run() reports ranks that could not be started, and has ended those that were; what ranks do is in
/// the outcome. A rank that SIGKILL does not end within ten seconds is left in the outcome as such, and the
/// destructor would wait for it.
/// Cost: a thread and some descriptors per rank.
class Supervisor {
 public:
  Supervisor(JobPlan plan, launch::RankOutput& output);
  ~Supervisor();

  Result<JobOutcome> run();
  /// Ends the job as if the signal had been sent to each rank: SIGINT as such, any other as SIGTERM. The
  /// second time at once, without grace, and without waiting for whoever reads the output.
  void interrupt(int signal);

 private:
  struct Rank {
    std::optional<Process> process{};  // until it has ended and nothing shall be left of its group
    launch::LastLines last_lines{};    // used by the thread of the process while there is one
    std::optional<ExitStatus> status{};
    std::optional<TimePoint> ended_at{};
    bool was_stopped = false;  // when the job was ended
    std::thread release{};     // kills and reaps what is left, and writes its last line: both may take time
    bool is_released = false;  // under the mutex
  };

  Status start(int number);
  void take(int number, launch::Stream stream, std::string_view piece);
  void note(const Status& output_status);
  void wake();

  JobEnd wait_for_end();
  std::optional<JobEnd> reason_to_end();
  /// Waits for an event until `deadline`; returns false if there was none.
  bool wait_for_event(TimePoint deadline);

  enum class Leftovers { kKill, kSpare };
  /// Takes in the ranks that have ended; those with descendants that still run only where these are to go.
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
  std::optional<int> first_failed() const;

  const JobPlan plan_;
  launch::RankOutput& output_;
  std::deque<Rank> ranks_;  // a rank stays where it is
  std::optional<TimePoint> ending_since_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool has_event_ = false;
  int interruptions_ = 0;
  std::optional<int> interrupted_by_;
  std::optional<Error> output_failure_;
};

}  // namespace cohort
