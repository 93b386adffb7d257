#include "supervise/job_outcome.h"

#include "base/error_codes.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace cohort {
namespace {

constexpr int kFailed = 1;
constexpr int kSignalBase = 128;
// The lines of standard output that are shown above those of standard error.
constexpr std::size_t kOutputBesideErrors = 5;

// Whether a signal is a cause of its own. The other signals are mostly consequences of another rank's
// failure: an uncaught error aborts, a write to a closed connection raises SIGPIPE, and launchers send
// SIGTERM.
bool is_own_end(int signal) {
  return signal != SIGABRT && signal != SIGPIPE && signal != SIGTERM && signal != SIGINT;
}

std::string how_it_ended(const JobOutcome& outcome, const RankOutcome& rank) {
  if (rank.status) return rank.status->text();
  return outcome.lost_host ? "was not heard of again" : "did not end, not even after SIGKILL";
}

std::string on_host(const JobOutcome& outcome, int rank) {
  if (outcome.hosts.empty()) return "";
  return fmt::format(" on {}", outcome.hosts[static_cast<std::size_t>(rank)]);
}

std::string indented(const std::deque<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("    {}\n", line);
  return text;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

std::string list_of(const std::vector<std::size_t>& ranks) {
  constexpr std::size_t kMostShown = 8;
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostShown); ++i) {
    text += fmt::format("{} {}", i == 0 ? "" : ",", ranks[i]);
  }
  if (ranks.size() > kMostShown) text += fmt::format(" and {} more", ranks.size() - kMostShown);
  return text;
}

// One line for each way to end: `ranks 0, 2 exited with 1`.
std::string others(const JobOutcome& outcome) {
  std::map<std::string, std::vector<std::size_t>> by_end;
  for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
    if (outcome.first_failed == static_cast<int>(rank)) continue;
    by_end[how_it_ended(outcome, outcome.ranks[rank])].push_back(rank);
  }
  std::string text;
  for (const auto& [end, ranks] : by_end) {
    const bool are_many_killed = ranks.size() > 1 && end.rfind("was ", 0) == 0;
    text += fmt::format("cohort: {} {}\n", list_of(ranks), are_many_killed ? "were " + end.substr(4) : end);
  }
  return text;
}

std::vector<std::size_t> stopped_ranks(const JobOutcome& outcome) {
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
    if (outcome.ranks[rank].was_stopped) ranks.push_back(rank);
  }
  return ranks;
}

std::string excerpt(const std::deque<std::string>& lines, std::string_view stream) {
  return fmt::format("cohort: its last {}{}:\n{}",
                     lines.size() == 1 ? "line" : fmt::format("{} lines", lines.size()), stream,
                     indented(lines));
}

// Standard error comes last, where readers look first.
std::string last_words(const RankOutcome& rank) {
  if (rank.last_output.empty() && rank.last_error_output.empty()) return "cohort: the rank wrote nothing\n";
  if (rank.last_output.empty()) return excerpt(rank.last_error_output, "");
  if (rank.last_error_output.empty()) return excerpt(rank.last_output, "");
  std::deque<std::string> output = rank.last_output;
  while (output.size() > kOutputBesideErrors) output.pop_front();
  return excerpt(output, " of standard output") + excerpt(rank.last_error_output, " of standard error");
}

// If a rank was stopped, the rank that ended first is not to blame: it only timed out.
std::string first_failure(const JobOutcome& outcome) {
  if (!outcome.first_failed) return "cohort: a rank failed\n";
  const int number = *outcome.first_failed;
  const RankOutcome& rank = outcome.ranks[static_cast<std::size_t>(number)];
  const std::vector<std::size_t> stopped = stopped_ranks(outcome);
  std::string text;
  if (!stopped.empty()) text = fmt::format("cohort: {} had been stopped by a signal\n", list_of(stopped));
  text += fmt::format("cohort: rank {}{} {} first: it {}\n", number, on_host(outcome, number),
                      stopped.empty() ? "failed" : "gave up", how_it_ended(outcome, rank));
  return text + last_words(rank);
}

std::string host_failure(const LostHost& host) {
  std::string text = fmt::format("cohort: host {} was lost: {}\n", host.name, host.why);
  if (host.last_lines.empty()) return text;
  return text + "cohort: the last lines from there:\n" + indented(host.last_lines);
}

std::string cause(const JobOutcome& outcome) {
  switch (outcome.end) {
    case JobEnd::kAllDone:
      return "";
    case JobEnd::kRankFailed:
      return first_failure(outcome);
    case JobEnd::kInterrupted:
      return fmt::format("cohort: ended by {}\n", signal_name(outcome.interrupted_by.value_or(0)));
    case JobEnd::kTimedOut:
      return "cohort: the time limit of the job has passed\n";
    case JobEnd::kUnread:
      return "cohort: ended because the reader of its output is gone\n";
    case JobEnd::kHostLost:
      return host_failure(*outcome.lost_host);
  }
  return "";
}

}  // namespace

bool has_followed(const RankOutcome& rank) {
  return rank.status && rank.status->code == kFollowedExitCode;
}

bool have_stopped(const std::vector<RankOutcome>& ranks) {
  return !ranks.empty() && std::all_of(ranks.begin(), ranks.end(), [](const RankOutcome& rank) {
    return rank.status && rank.status->code == kStoppedExitCode;
  });
}

bool has_failed_itself(const RankOutcome& rank) {
  if (!rank.status || has_followed(rank)) return false;
  if (rank.status->signal) return is_own_end(*rank.status->signal) && *rank.status->signal != SIGKILL;
  return rank.status->code && *rank.status->code > 0 && *rank.status->code < kSignalBase;
}

bool has_reached_its_end(const std::vector<RankOutcome>& ranks) {
  const auto has_succeeded = [](const RankOutcome& rank) { return rank.status && rank.status->is_success(); };
  return std::any_of(ranks.begin(), ranks.end(), has_succeeded) &&
         std::all_of(ranks.begin(), ranks.end(), [&](const RankOutcome& rank) {
           return has_succeeded(rank) || !rank.status || rank.status->signal;
         });
}

std::optional<int> blamed_rank(const std::vector<HostEnd>& hosts, RankLoss rank_loss) {
  const auto first_failed_that = [&](auto predicate) -> std::optional<int> {
    for (const HostEnd& host : hosts) {
      const std::optional<int> first =
          host.outcome->end == JobEnd::kRankFailed ? host.outcome->first_failed : std::nullopt;
      if (first && predicate(host.outcome->ranks[static_cast<std::size_t>(*first)])) {
        return host.first_rank + *first;
      }
    }
    return std::nullopt;
  };
  const auto was_killed = [](const RankOutcome& rank) {
    return rank.status && rank.status->signal && is_own_end(*rank.status->signal);
  };
  const auto has_exited = [](const RankOutcome& rank) { return rank.status && rank.status->code; };
  if (rank_loss == RankLoss::kTell) {
    const auto exited =
        first_failed_that([&](const RankOutcome& rank) { return has_exited(rank) && !has_followed(rank); });
    if (exited) return exited;
    if (const auto rank = first_failed_that(has_exited)) return rank;
  }
  if (const auto rank = first_failed_that(was_killed)) return rank;
  if (const auto rank = first_failed_that([](const RankOutcome& one) { return !has_followed(one); })) {
    return rank;
  }
  for (const HostEnd& host : hosts) {
    const auto& ranks = host.outcome->ranks;
    const auto found = std::find_if(ranks.begin(), ranks.end(), has_failed_itself);
    if (found != ranks.end()) return host.first_rank + static_cast<int>(found - ranks.begin());
  }
  return first_failed_that([](const RankOutcome&) { return true; });
}

bool JobOutcome::is_over() const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [](const RankOutcome& rank) { return rank.status.has_value(); });
}

std::vector<int> JobOutcome::lost_on_the_way() const {
  std::vector<int> lost;
  for (std::size_t rank = 0; end == JobEnd::kAllDone && rank < ranks.size(); ++rank) {
    const auto& status = ranks[rank].status;
    if (!status || !status->is_success()) lost.push_back(static_cast<int>(rank));
  }
  return lost;
}

int JobOutcome::exit_code() const {
  if (have_stopped(ranks)) return kStoppedExitCode;
  if (interrupted_by) return kSignalBase + *interrupted_by;
  if (end == JobEnd::kRankFailed && first_failed) {
    const auto& status = ranks[static_cast<std::size_t>(*first_failed)].status;
    if (status && status->code) return *status->code;
    if (status && status->signal) return kSignalBase + *status->signal;
    return kFailed;
  }
  return end == JobEnd::kAllDone && !output_failure ? 0 : kFailed;
}

std::string JobOutcome::summary() const {
  std::string text;
  if (have_stopped(ranks)) {
    text = "cohort: the ranks have stopped; their state is saved\n";
  } else if (end != JobEnd::kAllDone) {
    text = cause(*this) + others(*this);
  }
  for (const int rank : lost_on_the_way()) {
    text += fmt::format("cohort: rank {}{} {}; the others went on without it\n", rank, on_host(*this, rank),
                        how_it_ended(*this, ranks[static_cast<std::size_t>(rank)]));
  }
  if (output_failure && end != JobEnd::kUnread) {
    text += fmt::format("cohort: output was lost: {}\n", output_failure->text());
  }
  return text;
}

}  // namespace cohort
