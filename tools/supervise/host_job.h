#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "supervise/agent_wire.h"
#include "supervise/job_outcome.h"
#include "supervise/lines.h"
#include "supervise/process.h"
#include "supervise/rank_output.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::supervise {

/// A host and the number of its ranks.
struct HostShare {
  std::string name{};
  int ranks = 1;

  bool operator==(const HostShare&) const = default;
};

/// Parses `a:4,b:4`; also `a,b` with one rank each, and `[fe80::7]:2`.
/// Failure: kUsage.
Result<std::vector<HostShare>> parse_hosts(std::string_view text);

int num_ranks(const std::vector<HostShare>& hosts);

}  // namespace cohort::supervise

namespace cohort {

/// A program to run as ranks on several hosts.
struct HostJobPlan {
  std::vector<supervise::HostShare> hosts{};
  /// The command that starts a program on a host, such as `ssh {host}`; `{host}` stands for the name of the
  /// host. The words of `agent` are appended.
  std::vector<std::string> start{};
  std::vector<std::string> agent{};  ///< the command line of the agent
  supervise::AgentPlan common{};     ///< ranks and first_rank are filled in for each host
  std::chrono::nanoseconds start_limit =
      std::chrono::seconds(30);                     ///< until the agent of a host must have greeted
  std::optional<std::chrono::nanoseconds> limit{};  ///< for the whole job
  /// Called when a rank has ended, or its host was lost, from other threads.
  std::function<void(int rank)> on_rank_end{};
};

/// Runs a job on several hosts: an agent on each host runs the ranks there; one failing rank, or a lost host,
/// ends all, unless AgentPlan::rank_loss says otherwise.
///
/// Threads: run() once; interrupt() from any thread, but not from a signal handler.
/// Lifetime: the output must outlive the job. The destructor ends the processes that started the agents; an
/// agent notices that its input ended and ends its ranks.
/// Failure: run() reports agents that could not be started from this host; lost hosts and failed ranks are in
/// the outcome.
/// Cost: one process, one thread and three descriptors per host.
class HostJob {
 public:
  HostJob(HostJobPlan plan, supervise::RankOutput& output);
  ~HostJob();

  Result<JobOutcome> run();
  /// Ends the job by sending the signal to every rank. A second call ends the job at once.
  void interrupt(int signal);

 private:
  struct Host {
    supervise::HostShare share{};
    int first_rank = 0;
    Descriptor input{};  // the agent's standard input
    std::optional<Process> process{};
    // Written by the thread that reads the agent's output, under the mutex.
    std::string before_greeting{};
    bool has_greeted = false;
    supervise::FrameCutter cutter{};
    supervise::LastLines last_lines{};
    std::optional<JobOutcome> outcome{};
    std::optional<std::string> failure{};
    std::optional<std::string> other_version{};
    bool is_over = false;
  };

  Status start(Host& host);
  void hear(Host& host, std::string_view piece);
  void take(Host& host, const supervise::FrameCutter::Frame& frame);
  bool hear_greeting(Host& host, std::string_view& piece);
  void say_plan(Host& host);
  void say(Host& host, supervise::AgentFrame kind, std::span<const std::byte> content);
  void tell_all(int signal);
  void insist(TimePoint end_by);
  void look_at_processes();
  void tell_of_loss(const Host& host) const;
  void look_at_the_time(TimePoint now);
  bool all_over() const;
  std::optional<JobEnd> reason_to_end() const;
  JobEnd end_of_all() const;
  JobOutcome merged(JobEnd end) const;
  static LostHost lost(const Host& host);
  void note_end(Host& host);
  void note(const Status& output_status);

  const HostJobPlan plan_;
  supervise::RankOutput& output_;
  std::deque<Host> hosts_;
  TimePoint started_at_{};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int interruptions_ = 0;
  std::optional<int> interrupted_by_;
  std::optional<Error> output_failure_;
  const Host* first_bad_ = nullptr;  // the first host whose ranks failed, or that was lost
  std::optional<TimePoint> insisted_at_;
  bool has_told_ = false;  // the signal to end was sent
  bool is_timed_out_ = false;
};

}  // namespace cohort
