#include "mpi/calls.h"

#include "base/units.h"
#include "comm/rank_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace cohort::mpi {
namespace {

using std::chrono::steady_clock;

// How often whoever waits asks before it looks at the clock and gives up its core.
constexpr int kQuickLooks = 200;
// How long a rank that was told to stop waits for the reason.
constexpr std::chrono::milliseconds kReasonLimit(1'000);
// How long MPI may take to let go of a call after it was revoked.
constexpr std::chrono::seconds kRevokeLimit(5);
constexpr std::chrono::microseconds kLongestPause(200);

}  // namespace

Calls::Calls(Library& library, Group group, std::function<void(const Error&)> on_failure)
    : library_(library), group_(std::move(group)), on_failure_(std::move(on_failure)) {}

Result<Calls::Shared> Calls::begin(const Call& call) {
  COHORT_RETURN_IF_ERROR(Flight::check(call));
  const TimePoint deadline = deadline_after(steady_clock::now(), call.limit.value_or(group_.facts.limit));
  const Flight::Place place{library_, group_.comm, group_.facts.rank, group_.facts.world};
  auto pending = std::make_shared<Pending>(place, call, deadline);
  const std::lock_guard lock(order_mutex_);
  if (failure_.has_failed()) return broken_off(*pending);
  pending->sequence = ++sequence_;
  pending->code = pending->flight.begin();
  pending->ended_at = steady_clock::now();
  return pending;
}

Status Calls::run(const Call& call) {
  COHORT_ASSIGN_OR_RETURN(const Shared pending, begin(call));
  for (int i = 0; i < kQuickLooks && pending->code == 0; ++i) {
    bool is_done = false;
    pending->code = pending->flight.test(is_done);
    if (!is_done || pending->code != 0) continue;
    pending->flight.finish();
    return {};
  }
  while (true) {
    if (std::optional<Status> outcome = look(pending)) return *std::move(outcome);
    std::this_thread::yield();
  }
}

Work Calls::start(const Call& call) {
  Result<Shared> pending = begin(call);
  if (!pending) return Work::finished(pending.error());
  auto completion = std::make_shared<comm::Completion>((*pending)->deadline);
  (*pending)->completion = completion;
  const std::lock_guard lock(mutex_);
  started_.push_back(*std::move(pending));
  return Work(std::move(completion));
}

std::optional<Status> Calls::look(const Shared& pending) {
  if (pending->code == 0) {
    bool is_done = false;
    pending->code = pending->flight.test(is_done);
    if (pending->code == 0 && is_done) {
      pending->flight.finish();
      return Status();
    }
    pending->ended_at = steady_clock::now();
  }
  if (pending->code != 0) return explain(*pending);
  const bool has_failed = failure_.has_failed();
  if (!has_failed && pending->ended_at < pending->deadline) return std::nullopt;
  Error error = has_failed ? broken_off(*pending) : fail(timed_out(*pending));
  give_up(pending);
  return error;
}

// MPI ended the call with an error.
std::optional<Status> Calls::explain(const Pending& pending) {
  const CohortMpiErrorKind kind = library_.shim().error_kind(pending.code);
  if (kind == COHORT_MPI_PEER_LOST || kind == COHORT_MPI_REVOKED) {
    if (const std::vector<int> lost = lost_ranks(); !lost.empty()) {
      return fail(Error(ErrorCode::kPeerLost, comm::ranks_have(lost) + " ended")
                      .within(text(pending.call, pending.sequence))
                      .with_remedy("Go on with the others, or start the job again."));
    }
  }
  if (failure_.has_failed()) return broken_off(pending);
  // Somebody else gave up, and the reason is on its way; not every call of MPI says so in these words.
  if (library_.can_recover() && steady_clock::now() < pending.ended_at + kReasonLimit) {
    return std::nullopt;
  }
  return fail(library_.error(pending.code, "MPI gave up").within(text(pending.call, pending.sequence)));
}

std::vector<int> Calls::lost_ranks() {
  library_.look_for_losses();
  const std::vector<int> lost = library_.lost_ranks();
  std::vector<int> ranks;
  for (int r = 0; r < group_.facts.world; ++r) {
    const int world_rank = group_.world_ranks[static_cast<std::size_t>(r)];
    if (std::find(lost.begin(), lost.end(), world_rank) != lost.end()) ranks.push_back(r);
  }
  return ranks;
}

void Calls::give_up(const Shared& pending) {
  const TimePoint until = steady_clock::now() + kRevokeLimit;
  bool is_done = false;
  while (library_.can_recover() && !is_done && steady_clock::now() < until) {
    if (pending->flight.test(is_done) != 0) is_done = true;  // it ended, with the error that was asked for
  }
  if (is_done) return;
  library_.keep(pending);
  const std::lock_guard lock(mutex_);
  is_clean_ = false;
}

Error Calls::fail(const Error& error) {
  if (failure_.fail(error)) {
    if (library_.can_recover()) library_.shim().revoke(group_.comm);
    on_failure_(error);
  }
  return *failure_.failure();
}

std::string Calls::text(const Call& call, std::uint64_t sequence) const {
  const std::string number = sequence == 0 ? "a call" : fmt::format("call {}", sequence);
  return fmt::format("rank {}: {}, {} of group '{}' (generation {})", group_.facts.rank, call.text(), number,
                     group_.facts.name, group_.facts.generation);
}

Error Calls::broken_off(const Pending& pending) const {
  return failure_.failure()->within(text(pending.call, pending.sequence));
}

Error Calls::timed_out(const Pending& pending) const {
  return Error(ErrorCode::kTimedOut, "not all ranks have arrived; MPI does not tell which")
      .within(text(pending.call, pending.sequence))
      .with_remedy("Look for the rank that makes another call or none, or give the call a longer limit.");
}

bool Calls::is_clean() const {
  const std::lock_guard lock(mutex_);
  return is_clean_;
}

bool Calls::advance() {
  {
    const std::lock_guard lock(mutex_);
    active_.insert(active_.end(), started_.begin(), started_.end());
    started_.clear();
  }
  if (active_.empty()) return false;
  const bool moved = settle_some(active_);
  if (moved) moved_at_ = steady_clock::now();
  return moved;
}

bool Calls::settle_some(std::vector<Shared>& active) {
  std::vector<std::pair<Shared, Status>> settled;
  std::erase_if(active, [&](const Shared& pending) {
    std::optional<Status> outcome = look(pending);
    if (outcome) settled.emplace_back(pending, *std::move(outcome));
    return outcome.has_value();
  });
  for (auto& [pending, outcome] : settled) pending->completion->settle(std::move(outcome));
  return !settled.empty();
}

TimePoint Calls::wanted_at() const {
  if (active_.empty()) return TimePoint::max();
  const TimePoint now = steady_clock::now();
  const auto pause = std::min<steady_clock::duration>(kLongestPause, (now - moved_at_) / 8);
  return now + pause;
}

void Calls::close() {
  {
    const std::lock_guard lock(mutex_);
    active_.insert(active_.end(), started_.begin(), started_.end());
    started_.clear();
  }
  if (active_.empty()) return;
  const Error closed(ErrorCode::kAborted,
                     fmt::format("rank {}: the group '{}' was closed", group_.facts.rank, group_.facts.name));
  (void)fail(closed);
  for (const Shared& pending : active_) {
    give_up(pending);
    pending->completion->settle(closed);
  }
  active_.clear();
}

}  // namespace cohort::mpi
