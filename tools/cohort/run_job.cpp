#include "run_job.h"

#include "signal_watch.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>

namespace cohort::tool {

Result<ExitCode> run_job(JobPlan plan, launch::RankOutput& output) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes ends the job in order
  Supervisor supervisor(std::move(plan), output);
  COHORT_ASSIGN_OR_RETURN(const auto watch,
                          SignalWatch::start([&](int signal) { supervisor.interrupt(signal); }));
  COHORT_ASSIGN_OR_RETURN(const JobOutcome outcome, supervisor.run());
  std::cerr << outcome.summary() << std::flush;
  // Whoever hangs in the operating system would be waited for by the destructor.
  if (!outcome.is_over()) std::_Exit(outcome.exit_code());
  return static_cast<ExitCode>(outcome.exit_code());
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
