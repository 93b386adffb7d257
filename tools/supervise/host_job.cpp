#include "supervise/host_job.h"

#include "base/system_error.h"
#include "base/units.h"

#include <algorithm>
#include <array>
#include <cohort/version.h>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace cohort {
namespace {

using namespace std::chrono_literals;
using supervise::AgentFrame;

constexpr std::size_t kMostBeforeGreeting = std::size_t{64} << 10;
constexpr int kPlanCap = 1 << 20;  // the largest pipe that an ordinary user gets
constexpr auto kPollInterval = 50ms;
// An agent may take this much longer than the grace of its ranks to report how they ended.
constexpr auto kAgentGrace = 15s;

std::string filled(std::string word, const std::string& host) {
  constexpr std::string_view kPlaceholder = "{host}";
  for (std::size_t at = word.find(kPlaceholder); at != std::string::npos;
       at = word.find(kPlaceholder, at + host.size())) {
    word.replace(at, kPlaceholder.size(), host);
  }
  return word;
}

}  // namespace

HostJob::HostJob(HostJobPlan plan, supervise::RankOutput& output) : plan_(std::move(plan)), output_(output) {
  int first_rank = 0;
  for (const supervise::HostShare& share : plan_.hosts) {
    Host& host = hosts_.emplace_back();
    host.share = share;
    host.first_rank = first_rank;
    first_rank += share.ranks;
  }
}

HostJob::~HostJob() {
  output_.give_up();
  for (Host& host : hosts_) host.process.reset();
}

Status HostJob::start(Host& host) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  const Descriptor reading(ends[0]);
  host.input = Descriptor(ends[1]);
  ::fcntl(host.input.number(), F_SETPIPE_SZ, kPlanCap);
  ::fcntl(host.input.number(), F_SETFL, O_NONBLOCK);
  ProcessOptions options{.input = reading.number()};
  for (const std::string& word : plan_.start) options.argv.push_back(filled(word, host.share.name));
  options.argv.insert(options.argv.end(), plan_.agent.begin(), plan_.agent.end());
  options.output = OutputToFunction{[this, &host](std::string_view piece) { hear(host, piece); }};
  options.error_output = OutputToFunction{[this, &host](std::string_view piece) {
    const std::lock_guard lock(mutex_);
    host.last_lines.add(piece);
  }};
  options.group = ProcessGroup::kOwn;
  options.die_with_parent = false;  // the agent sees the end of its input and ends its ranks first
  options.on_end = [this] { changed_.notify_all(); };
  COHORT_ASSIGN_OR_RETURN(Process process, Process::start(std::move(options)));
  const std::lock_guard lock(mutex_);
  host.process.emplace(std::move(process));
  return {};
}

// The plan contains the key of the job, so it is sent only after the greeting of an agent.
void HostJob::say_plan(Host& host) {
  supervise::AgentPlan plan = plan_.common;
  plan.ranks = host.share.ranks;
  plan.first_rank = host.first_rank;
  say(host, AgentFrame::kPlan, plan.encode());
}

Result<JobOutcome> HostJob::run() {
  started_at_ = std::chrono::steady_clock::now();
  for (Host& host : hosts_) {
    COHORT_RETURN_IF_ERROR(start(host).within(fmt::format("host {}", host.share.name)));
  }
  std::optional<JobEnd> end;
  TimePoint end_by = TimePoint::max();
  std::unique_lock lock(mutex_);
  while (!all_over()) {
    look_at_processes();
    look_at_the_time(std::chrono::steady_clock::now());
    if (!end && (end = reason_to_end())) {
      end_by =
          deadline_after(deadline_after(std::chrono::steady_clock::now(), plan_.common.grace), kAgentGrace);
      tell_all(interrupted_by_.value_or(SIGTERM));
    }
    if (end) insist(end_by);
    changed_.wait_for(lock, kPollInterval);
  }
  if (!end) end = reason_to_end();
  return merged(end.value_or(end_of_all()));
}

void HostJob::interrupt(int signal) {
  {
    const std::lock_guard lock(mutex_);
    if (++interruptions_ == 1) interrupted_by_ = signal;
    if (interruptions_ > 1) output_.give_up();
  }
  changed_.notify_all();
}

// ----- reading from agents -----

void HostJob::hear(Host& host, std::string_view piece) {
  std::vector<supervise::FrameCutter::Frame> frames;
  {
    const std::lock_guard lock(mutex_);
    if (host.is_over || !hear_greeting(host, piece)) return;
    host.cutter.add(piece);
    while (true) {
      auto frame = host.cutter.next();
      if (!frame) host.failure = frame.error().message();
      if (!frame || !*frame) break;
      frames.push_back(std::move(**frame));
    }
  }
  for (const auto& frame : frames) take(host, frame);
  changed_.notify_all();
}

// A login message of the host may stand before the greeting.
bool HostJob::hear_greeting(Host& host, std::string_view& piece) {
  if (host.has_greeted) return true;
  host.before_greeting += piece;
  const std::string expected = supervise::agent_greeting(version());
  const std::size_t at = host.before_greeting.find(supervise::agent_greeting("").substr(0, 13));
  const std::size_t line_end = at == std::string::npos ? at : host.before_greeting.find('\n', at);
  if (line_end == std::string::npos) {
    if (host.before_greeting.size() > kMostBeforeGreeting) {
      host.failure = "no agent answered: 64 KiB of other output came instead of a greeting";
    }
    return false;
  }
  const std::string line = host.before_greeting.substr(at, line_end + 1 - at);
  if (line != expected) {
    host.other_version = line.substr(13, line.size() - 14);
    host.failure =
        fmt::format("Cohort {} is installed there, Cohort {} on this host", *host.other_version, version());
    return false;
  }
  host.has_greeted = true;
  say_plan(host);
  host.cutter.add(std::string_view(host.before_greeting).substr(line_end + 1));
  piece = {};
  return true;
}

void HostJob::take(Host& host, const supervise::FrameCutter::Frame& frame) {
  const auto is_own = [&](int rank) {
    return rank >= host.first_rank && rank < host.first_rank + host.share.ranks;
  };
  switch (frame.kind) {
    case AgentFrame::kOutput: {
      const auto piece = supervise::OutputPiece::decode(frame.content);
      if (piece && is_own(piece->rank)) note(output_.take(piece->rank, piece->stream, piece->bytes));
      return;
    }
    case AgentFrame::kFinished: {
      const auto rank = supervise::decode_number(frame.content);
      if (!rank || !is_own(*rank)) return;
      if (plan_.on_rank_end) plan_.on_rank_end(*rank);
      note(output_.finish(*rank));
      return;
    }
    case AgentFrame::kOutcome: {
      const std::lock_guard lock(mutex_);
      const auto outcome = supervise::decode_outcome(frame.content);
      const int first_failed = outcome ? outcome->first_failed.value_or(0) : 0;
      const bool fits = outcome && outcome->ranks.size() == static_cast<std::size_t>(host.share.ranks) &&
                        first_failed >= 0 && first_failed < host.share.ranks;
      if (fits) {
        host.outcome = *outcome;
      } else {
        host.failure = fmt::format("corrupt outcome: expected one for {} ranks", host.share.ranks);
      }
      note_end(host);
      return;
    }
    default: {
      const std::lock_guard lock(mutex_);
      host.failure = supervise::decode_error(frame.content).text();
      note_end(host);
    }
  }
}

// The first host that fails is the reason for the end of the job.
void HostJob::note_end(Host& host) {
  const bool is_ended_by_us = has_told_ || insisted_at_;
  if (host.outcome && !host.failure && !is_ended_by_us && host.outcome->end != JobEnd::kAllDone &&
      host.outcome->end != JobEnd::kRankFailed) {
    host.failure = "its ranks were ended on that host, not by this job";
  }
  const bool is_bad = host.failure || host.outcome->end != JobEnd::kAllDone;
  if (is_bad && first_bad_ == nullptr) first_bad_ = &host;
}

void HostJob::note(const Status& output_status) {
  if (output_status) return;
  const std::lock_guard lock(mutex_);
  if (!output_failure_) output_failure_ = output_status.error();
}

// ----- writing to agents; with the lock held -----

void HostJob::say(Host& host, AgentFrame kind, std::span<const std::byte> content) {
  if (!host.input.is_open()) return;
  const std::string frame = supervise::framed(kind, content);
  const ssize_t put = ::write(host.input.number(), frame.data(), frame.size());
  // A write to an agent that has just ended fails; its report has already been read.
  if (kind == AgentFrame::kPlan && put != static_cast<ssize_t>(frame.size()) && !host.failure) {
    host.failure = "its agent does not read its input";
  }
}

void HostJob::tell_all(int signal) {
  has_told_ = true;
  for (Host& host : hosts_) {
    if (!host.is_over) say(host, AgentFrame::kInterrupt, supervise::encode_number(signal));
  }
}

// An agent whose input ends kills its ranks. If even that does not help, the local process is killed.
void HostJob::insist(TimePoint end_by) {
  const TimePoint now = std::chrono::steady_clock::now();
  if (now < end_by && interruptions_ < 2) return;
  for (Host& host : hosts_) host.input = Descriptor();
  if (!insisted_at_) {
    insisted_at_ = now;
    output_.give_up();  // no call may wait for the reader any more
  }
  if (now < *insisted_at_ + kAgentGrace) return;
  for (Host& host : hosts_) {
    if (!host.is_over) (void)host.process->signal_group(SIGKILL);
  }
}

// ----- the end; with the lock held -----

void HostJob::look_at_processes() {
  for (Host& host : hosts_) {
    if (host.is_over) continue;
    const auto status = host.process->poll();
    const bool has_ended = !status || status->has_value();
    if (!has_ended && !host.outcome && !host.failure) continue;
    if (!host.outcome && !host.failure) {
      host.failure = fmt::format("the program that started its agent {}",
                                 status ? (*status)->text() : status.error().message());
    }
    host.is_over = true;
    if (host.failure) tell_of_loss(host);
    host.input = Descriptor();  // an agent that still runs sees the end of its input and ends its ranks
    note_end(host);
  }
}

// An agent that is gone ends its ranks or has taken them along: ranks of other hosts need not wait for them.
void HostJob::tell_of_loss(const Host& host) const {
  for (int rank = 0; plan_.on_rank_end && rank < host.share.ranks; ++rank) {
    plan_.on_rank_end(host.first_rank + rank);
  }
}

void HostJob::look_at_the_time(TimePoint now) {
  if (plan_.limit && now >= deadline_after(started_at_, *plan_.limit)) is_timed_out_ = true;
  if (now < deadline_after(started_at_, plan_.start_limit)) return;
  for (Host& host : hosts_) {
    if (host.has_greeted || host.failure) continue;
    host.failure = fmt::format("its agent did not answer within {}", format_duration(plan_.start_limit));
  }
}

bool HostJob::all_over() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.is_over; });
}

// Ranks that were lost on the way have not ended the job.
JobEnd HostJob::end_of_all() const {
  if (has_reached_its_end(merged(JobEnd::kAllDone).ranks)) return JobEnd::kAllDone;
  return first_bad_ != nullptr && first_bad_->failure ? JobEnd::kHostLost : JobEnd::kRankFailed;
}

std::optional<JobEnd> HostJob::reason_to_end() const {
  if (first_bad_ != nullptr && plan_.common.rank_loss == RankLoss::kEnd) {
    const Host& host = *first_bad_;
    if (host.failure) return JobEnd::kHostLost;
    if (host.outcome->end == JobEnd::kRankFailed) return JobEnd::kRankFailed;
  }
  if (interrupted_by_) return JobEnd::kInterrupted;
  if (is_timed_out_) return JobEnd::kTimedOut;
  if (output_failure_ && output_failure_->code() == ErrorCode::kAborted) return JobEnd::kUnread;
  return std::nullopt;
}

JobOutcome HostJob::merged(JobEnd end) const {
  JobOutcome outcome{.end = end};
  if (end == JobEnd::kInterrupted) outcome.interrupted_by = interrupted_by_;
  outcome.output_failure = output_failure_;
  for (const Host& host : hosts_) {
    for (int rank = 0; rank < host.share.ranks; ++rank) {
      outcome.ranks.push_back(host.outcome ? host.outcome->ranks[static_cast<std::size_t>(rank)]
                                           : RankOutcome{});
      outcome.hosts.push_back(host.share.name);
    }
    if (host.failure && !outcome.lost_host) outcome.lost_host = lost(host);
  }
  if (end == JobEnd::kRankFailed) {
    // The host that ended the job comes first.
    std::vector<HostEnd> ends;
    for (const Host& host : hosts_) {
      if (!host.outcome) continue;
      ends.insert(&host == first_bad_ ? ends.begin() : ends.end(), {host.first_rank, &*host.outcome});
    }
    outcome.first_failed = blamed_rank(ends, plan_.common.rank_loss);
  }
  if (end == JobEnd::kHostLost) outcome.lost_host = lost(*first_bad_);
  return outcome;
}

LostHost HostJob::lost(const Host& host) {
  return {host.share.name, *host.failure, host.last_lines.lines(), host.other_version};
}

}  // namespace cohort
