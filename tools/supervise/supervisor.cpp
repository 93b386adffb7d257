#include "supervise/supervisor.h"

#include "base/check.h"
#include "supervise/cores.h"
#include "supervise/spawn.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

namespace cohort {
namespace {

using namespace std::chrono_literals;
using supervise::Stream;

// The time that a rank may need to disappear after SIGKILL, and the part of it in which a slow reader may
// still read its last output.
constexpr auto kRankVanishing = 10s;
constexpr auto kLastOutput = 1s;
// The interval at which the descendants of an ended rank are looked for: the kernel sends no event for them.
constexpr auto kLookAgain = 20ms;

TimePoint now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

Supervisor::Supervisor(JobPlan plan, supervise::RankOutput& output)
    : plan_(std::move(plan)), output_(output) {
  COHORT_CHECK_GE(plan_.ranks, 1);
}

Supervisor::~Supervisor() {
  output_.give_up();  // no call may wait for the reader any more
  for (Rank& rank : ranks_) {
    rank.process.reset();
    if (rank.release.joinable()) rank.release.join();
  }
}

Result<JobOutcome> Supervisor::run() {
  COHORT_CHECK(ranks_.empty(), "run() was called twice");
  ranks_.resize(static_cast<std::size_t>(plan_.ranks));
  for (int number = 0; number < plan_.ranks; ++number) {
    COHORT_RETURN_IF_ERROR(start(number).within(fmt::format("rank {} of {}", number, plan_.ranks)));
  }
  const JobEnd end = wait_for_end();
  if (end != JobEnd::kAllDone) end_all();
  JobOutcome ended = outcome(end);
  if (end != JobEnd::kAllDone || has_reached_its_end(ended.ranks)) return ended;
  return outcome(JobEnd::kRankFailed);
}

Status Supervisor::start(int number) {
  ProcessOptions options{.argv = plan_.argv, .environment = plan_.environment};
  supervise::RankIdentity identity{.rank = plan_.first_rank + number,
                                   .world = plan_.world.value_or(plan_.ranks),
                                   .local_rank = number,
                                   .local_size = plan_.ranks,
                                   .roles = plan_.roles,
                                   .rendezvous = plan_.rendezvous};
  if (plan_.key) identity.key = supervise::kPassedOn;
  options.extra_environment = plan_.settings;
  options.extra_environment.merge(supervise::rank_variables(identity));
  options.passed_on = plan_.key;
  options.output =
      OutputToFunction{[=, this](std::string_view piece) { take(number, Stream::kOutput, piece); }};
  options.error_output =
      OutputToFunction{[=, this](std::string_view piece) { take(number, Stream::kErrorOutput, piece); }};
  options.group = ProcessGroup::kOwn;
  if (!plan_.pinned_cores.empty()) {
    options.cores = supervise::cores_of_rank(plan_.pinned_cores, number, plan_.ranks);
  }
  options.on_end = [this] { wake(); };
  COHORT_ASSIGN_OR_RETURN(auto process, Process::start(std::move(options)));
  ranks_[static_cast<std::size_t>(number)].process.emplace(std::move(process));
  return {};
}

void Supervisor::take(int number, Stream stream, std::string_view piece) {
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  (stream == Stream::kOutput ? rank.last_output : rank.last_error_output).add(piece);
  note(output_.take(number, stream, piece));
}

void Supervisor::note(const Status& output_status) {
  if (output_status) return;
  {
    const std::lock_guard lock(mutex_);
    if (output_failure_) return;
    output_failure_ = output_status.error();
  }
  wake();
}

void Supervisor::wake() {
  {
    const std::lock_guard lock(mutex_);
    has_event_ = true;
  }
  changed_.notify_all();
}

void Supervisor::interrupt(int signal) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = ++interruptions_ == 1;
    if (is_first) interrupted_by_ = signal;
  }
  if (!is_first) output_.give_up();
  wake();
}

int Supervisor::interruptions() {
  const std::lock_guard lock(mutex_);
  return interruptions_;
}

bool Supervisor::wait_for_event(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  // A wait until TimePoint::max() overflows inside the standard library, so each wait lasts an hour at most.
  const TimePoint until = std::min(deadline, now() + 1h);
  changed_.wait_until(lock, until, [this] { return has_event_; });
  return std::exchange(has_event_, false);
}

JobEnd Supervisor::wait_for_end() {
  const TimePoint deadline = plan_.limit ? deadline_after(now(), *plan_.limit) : TimePoint::max();
  while (true) {
    collect(Leftovers::kKill);
    if (const auto reason = reason_to_end()) return *reason;
    if (now() >= deadline) return JobEnd::kTimedOut;
    wait_for_event(deadline);
  }
}

std::optional<JobEnd> Supervisor::reason_to_end() {
  const bool failed = std::any_of(ranks_.begin(), ranks_.end(),
                                  [](const Rank& rank) { return rank.status && !rank.status->is_success(); });
  if (failed && plan_.rank_loss == RankLoss::kEnd) return JobEnd::kRankFailed;
  if (all_released()) return JobEnd::kAllDone;
  const std::lock_guard lock(mutex_);
  if (interrupted_by_) return JobEnd::kInterrupted;
  if (output_failure_ && output_failure_->code() == ErrorCode::kAborted) return JobEnd::kUnread;
  return std::nullopt;
}

bool Supervisor::all_released() const {
  const std::lock_guard lock(mutex_);
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.is_released; });
}

void Supervisor::collect(Leftovers leftovers) {
  const std::set<pid_t> spared =
      leftovers == Leftovers::kSpare ? supervise::living_groups() : std::set<pid_t>();
  for (std::size_t number = 0; number < ranks_.size(); ++number) {
    Rank& rank = ranks_[number];
    if (!rank.process) continue;
    const auto ended = rank.process->poll();
    if (ended && !*ended) continue;
    // A rank whose exit status cannot be read counts as failed.
    rank.status = ended ? **ended : ExitStatus{};
    rank.ended_at = rank.process->ended_at();
    if (spared.count(rank.process->pid()) == 0) start_release(static_cast<int>(number));
  }
}

// Runs on its own thread, because it may wait for the reader of the output while the job must still react to
// signals.
void Supervisor::start_release(int number) {
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  auto process = std::make_shared<Process>(std::move(*rank.process));
  rank.process.reset();
  try {
    rank.release = std::thread([=, this] { release(number, std::move(*process)); });
  } catch (const std::system_error&) {
    release(number, std::move(*process));
  }
}

void Supervisor::release(int number, Process process) noexcept {
  { const Process ending = std::move(process); }
  note(output_.finish(number));
  {
    const std::lock_guard lock(mutex_);
    ranks_[static_cast<std::size_t>(number)].is_released = true;
  }
  wake();
}

void Supervisor::signal_all(int number) {
  for (Rank& rank : ranks_) {
    if (!rank.process) continue;
    // Sending can only fail for a signal number that does not exist.
    [[maybe_unused]] const Status sent = rank.process->signal_group(number);
  }
}

void Supervisor::end_all() {
  ending_since_ = now();
  for (Rank& rank : ranks_) rank.was_stopped = rank.process && supervise::is_stopped(rank.process->pid());
  bool is_interrupt = false;
  {
    const std::lock_guard lock(mutex_);
    is_interrupt = interrupted_by_ == SIGINT;
  }
  signal_all(is_interrupt ? SIGINT : SIGTERM);
  signal_all(SIGCONT);  // a stopped process handles no other signal
  wait_for_grace();
  wait_after_kill();
}

void Supervisor::wait_for_grace() {
  const TimePoint deadline = deadline_after(now(), plan_.grace);
  const int before = std::min(interruptions(), 1);
  while (now() < deadline && interruptions() == before) {
    collect(Leftovers::kSpare);
    if (all_released()) return;
    const bool looks = std::any_of(ranks_.begin(), ranks_.end(),
                                   [](const Rank& rank) { return rank.process && rank.status; });
    wait_for_event(looks ? std::min(deadline, now() + kLookAgain) : deadline);
  }
}

void Supervisor::wait_after_kill() {
  signal_all(SIGKILL);
  const TimePoint killed = now();
  collect(Leftovers::kKill);
  while (!all_released() && now() < killed + kRankVanishing) {
    const bool patient = now() < killed + kLastOutput;
    if (!patient) output_.give_up();
    wait_for_event(killed + (patient ? std::chrono::nanoseconds(kLastOutput) : kRankVanishing));
    collect(Leftovers::kKill);
  }
}

template <class Predicate>
std::optional<int> Supervisor::first_ended(Predicate predicate) const {
  std::optional<int> first;
  for (std::size_t number = 0; number < ranks_.size(); ++number) {
    const Rank& rank = ranks_[number];
    if (!rank.status || rank.status->is_success() || !rank.ended_at || !predicate(rank)) continue;
    if (!first || *rank.ended_at < *ranks_[static_cast<std::size_t>(*first)].ended_at) {
      first = static_cast<int>(number);
    }
  }
  return first;
}

// A rank whose failure made others end may itself end after them, and after the signal that ends the job.
std::optional<int> Supervisor::first_failed() const {
  const auto before_the_end = [&](const Rank& rank) {
    return !ending_since_ || *rank.ended_at <= *ending_since_;
  };
  const auto followed = [](const Rank& rank) { return has_followed({.status = rank.status}); };
  if (plan_.rank_loss == RankLoss::kTell) {  // the others went on without ranks that were killed
    const auto failed = first_ended([](const Rank& rank) { return rank.status->code.has_value(); });
    if (failed) return failed;
  }
  auto first = first_ended([&](const Rank& rank) { return before_the_end(rank) && !followed(rank); });
  if (!first) {
    first = first_ended([](const Rank& rank) { return has_failed_itself({.status = rank.status}); });
  }
  if (!first) first = first_ended(before_the_end);
  return first;
}

JobOutcome Supervisor::outcome(JobEnd end) const {
  JobOutcome outcome{.end = end};
  if (end == JobEnd::kRankFailed) outcome.first_failed = first_failed();
  const std::lock_guard lock(mutex_);
  for (const Rank& rank : ranks_) {
    outcome.ranks.push_back({.status = rank.status, .was_stopped = rank.was_stopped});
    if (!rank.is_released) continue;
    outcome.ranks.back().last_output = rank.last_output.lines();
    outcome.ranks.back().last_error_output = rank.last_error_output.lines();
  }
  if (end == JobEnd::kInterrupted) outcome.interrupted_by = interrupted_by_;
  outcome.output_failure = output_failure_;
  return outcome;
}

}  // namespace cohort
