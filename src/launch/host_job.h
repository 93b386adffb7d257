#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "launch/agent_wire.h"
#include "launch/host_list.h"
#include "launch/job_outcome.h"
#include "launch/last_lines.h"
#include "launch/process.h"
#include "launch/rank_output.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cohort {

/// A program to run as ranks of several hosts.
struct HostJobPlan {
  std::vector<launch::HostShare> hosts{};
  /// What starts a program on a host, as words; `{host}` in them stands for its name. The agent's words are
  /// added: `ssh {host}`.
  std::vector<std::string> start{};
  std::vector<std::string> agent{};  ///< the agent's words
  launch::AgentPlan common{};        ///< ranks and first_rank are filled in for each host
  std::chrono::nanoseconds start_limit = std::chrono::seconds(30);  ///< for a host to answer
  std::optional<std::chrono::nanoseconds> limit{};                  ///< for the whole job
};

/// Runs a job on several hosts: an agent on each runs the ranks there; one failing rank ends all.
///
/// Threads: run() once; interrupt() from any thread, but not from a signal handler.
/// Lifetime: the output must outlive it. The destructor ends the processes that started the agents; an agent
/// that notices so ends its ranks.
/// Failure: run() reports what cannot be started here; what becomes of hosts and ranks is in the outcome.
/// Cost: one process, one thread and three descriptors per host.
class HostJob {
 public:
  HostJob(HostJobPlan plan, launch::RankOutput& output);
  ~HostJob();

  Result<JobOutcome> run();
  /// Ends the job: ranks get the signal. The second time at once.
  void interrupt(int signal);

 private:
  struct Host {
    launch::HostShare share{};
    int first_rank = 0;
    Descriptor input{};  // what we say to the agent
    std::optional<Process> process{};
    // Of the thread that reads what it says, under the mutex.
    std::string before_greeting{};
    bool has_greeted = false;
    launch::FrameCutter cutter{};
    launch::LastLines last_lines{};
    std::optional<JobOutcome> outcome{};
    std::optional<std::string> failure{};
    std::optional<std::string> other_version{};
    bool is_over = false;
  };

  Status start(Host& host);
  void hear(Host& host, std::string_view piece);
  void take(Host& host, const launch::FrameCutter::Frame& frame);
  bool hear_greeting(Host& host, std::string_view& piece);
  void say_plan(Host& host);
  void say(Host& host, launch::AgentFrame kind, std::span<const std::byte> content);
  void tell_all(int signal);
  void insist(TimePoint end_by);
  void look_at_processes();
  void look_at_the_time(TimePoint now);
  bool all_over() const;
  std::optional<JobEnd> reason_to_end() const;
  const Host& culprit() const;
  JobOutcome merged(JobEnd end) const;
  static LostHost lost(const Host& host);
  void note_end(Host& host);
  void note(const Status& output_status);

  const HostJobPlan plan_;
  launch::RankOutput& output_;
  std::deque<Host> hosts_;
  TimePoint started_at_{};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int interruptions_ = 0;
  std::optional<int> interrupted_by_;
  std::optional<Error> output_failure_;
  const Host* first_bad_ = nullptr;  // the host whose end ended the job
  std::optional<TimePoint> insisted_at_;
  bool has_told_ = false;  // to end
  bool is_timed_out_ = false;
};

}  // namespace cohort
