#include "mpi/bounded_calls.h"

#include <algorithm>
#include <thread>

namespace cohort::mpi {
namespace {

using std::chrono::steady_clock;

// How often whoever waits asks before it looks at the clock and gives up its core.
constexpr int kQuickLooks = 200;
// How long MPI may take to let go of a call after it was revoked.
constexpr std::chrono::seconds kRevokeLimit(5);
constexpr std::chrono::microseconds kLongestPause(200);

}  // namespace

Result<BoundedCalls::Shared> BoundedCalls::begin(const Call& call) {
  COHORT_RETURN_IF_ERROR(Flight::check(call));
  const TimePoint deadline = deadline_after(steady_clock::now(), call.limit.value_or(facts().limit));
  auto pending = std::make_shared<Pending>(place(), call, deadline);
  const std::lock_guard lock(order_mutex_);
  if (has_failed()) return broken_off(call, 0);
  pending->sequence = ++sequence_;
  attendance().come(sequence_);
  if (std::optional<Error> hopeless = deserted(call, sequence_)) {
    return fail_call(*hopeless, call, sequence_);
  }
  pending->code = pending->flight.begin();
  pending->looked_at = steady_clock::now();
  return pending;
}

Status BoundedCalls::run(const Call& call) {
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

Work BoundedCalls::start(const Call& call) {
  Result<Shared> pending = begin(call);
  if (!pending) return Work::finished(pending.error());
  auto completion = std::make_shared<comm::Completion>((*pending)->deadline);
  (*pending)->completion = completion;
  const std::lock_guard lock(mutex_);
  started_.push_back(*std::move(pending));
  return Work(std::move(completion));
}

std::optional<Status> BoundedCalls::look(const Shared& pending) {
  if (pending->code == 0) {
    bool is_done = false;
    pending->code = pending->flight.test(is_done);
    if (pending->code == 0 && is_done) {
      pending->flight.finish();
      return Status();
    }
    pending->looked_at = steady_clock::now();
  }
  if (pending->code != 0) {
    return explain(pending->code, pending->looked_at, pending->call, pending->sequence);
  }
  const bool over = has_failed();
  std::optional<Error> error =
      over ? broken_off(pending->call, pending->sequence) : deserted(pending->call, pending->sequence);
  if (!error && pending->looked_at >= pending->deadline) error = timed_out(pending->call, pending->sequence);
  if (!error) return std::nullopt;
  if (!over) error = fail_call(*error, pending->call, pending->sequence);
  give_up(pending);
  return *error;
}

void BoundedCalls::give_up(const Shared& pending) {
  const TimePoint until = steady_clock::now() + kRevokeLimit;
  bool is_done = pending->code != 0;
  while (library().can_recover() && !is_done && steady_clock::now() < until) {
    if (pending->flight.test(is_done) != 0) is_done = true;  // it ended, with the error that was asked for
  }
  if (is_done) return;
  library().keep(pending);
  const std::lock_guard lock(mutex_);
  is_clean_ = false;
}

bool BoundedCalls::is_clean() const {
  const std::lock_guard lock(mutex_);
  return is_clean_;
}

void BoundedCalls::take_started() {
  const std::lock_guard lock(mutex_);
  active_.insert(active_.end(), started_.begin(), started_.end());
  started_.clear();
}

bool BoundedCalls::advance() {
  take_started();
  if (active_.empty() || !settle_some()) return false;
  moved_at_ = steady_clock::now();
  return true;
}

bool BoundedCalls::settle_some() {
  std::vector<std::pair<Shared, Status>> settled;
  std::erase_if(active_, [&](const Shared& pending) {
    std::optional<Status> outcome = look(pending);
    if (!outcome) return false;
    settled.emplace_back(pending, *std::move(outcome));
    return true;
  });
  for (auto& [pending, outcome] : settled) pending->completion->settle(std::move(outcome));
  return !settled.empty();
}

TimePoint BoundedCalls::wanted_at() const {
  if (active_.empty()) return TimePoint::max();
  const TimePoint now = steady_clock::now();
  return now + std::min<steady_clock::duration>(kLongestPause, (now - moved_at_) / 8);
}

void BoundedCalls::close() {
  take_started();
  if (active_.empty()) return;
  (void)fail(closed());
  for (const Shared& pending : active_) {
    give_up(pending);
    pending->completion->settle(closed());
  }
  active_.clear();
}

}  // namespace cohort::mpi
