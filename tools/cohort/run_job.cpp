#include "run_job.h"

#include "net/tcp_meeting.h"
#include "signal_watch.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>

namespace cohort::tool {
namespace {

// `begin` starts the objects with threads of their own after the signals are blocked, so that these threads
// do not get them.
template <class Job, class Begin>
Result<ExitCode> run_to_its_end(Job& job, Begin begin) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed output ends the job in order
  COHORT_ASSIGN_OR_RETURN(const auto watch, SignalWatch::start([&](int signal) { job.interrupt(signal); }));
  [[maybe_unused]] const auto begun = begin();
  COHORT_ASSIGN_OR_RETURN(const JobOutcome outcome, job.run());
  std::cerr << outcome.summary() << std::flush;
  // The destructor would wait for a process that hangs in a system call, so it is skipped.
  if (!outcome.is_over()) std::_Exit(outcome.exit_code());
  return static_cast<ExitCode>(outcome.exit_code());
}

}  // namespace

Result<ExitCode> run_job(JobPlan plan, supervise::RankOutput& output) {
  Supervisor job(std::move(plan), output);
  return run_to_its_end(job, [] { return nullptr; });
}

Result<ExitCode> run_job(HostedJob hosted, supervise::RankOutput& output) {
  const int world = hosted.plan.common.world;
  std::unique_ptr<net::MeetingServer> meeting;  // outlives the job, which tells it of ranks that end
  hosted.plan.on_rank_end = [&](int rank) { meeting->tell_of_end(rank); };
  HostJob job(std::move(hosted.plan), output);
  return run_to_its_end(job, [&] {
    meeting = std::make_unique<net::MeetingServer>(hosted.key, std::move(hosted.listener), world);
    return nullptr;
  });
}

std::vector<std::string> rank_prefixes(int ranks, PrefixColours colours) {
  static constexpr std::array kColours{36, 33, 32, 35, 34, 31};
  std::vector<std::string> texts;
  for (int rank = 0; rank < ranks; ++rank) {
    const int colour = kColours[static_cast<std::size_t>(rank) % kColours.size()];
    texts.push_back(colours == PrefixColours::kShown ? fmt::format("\033[{}m[{}]\033[0m ", colour, rank)
                                                     : fmt::format("[{}] ", rank));
  }
  return texts;
}

}  // namespace cohort::tool
