#include "mpi/watched_calls.h"

namespace cohort::mpi {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kReasonPause(1);

}  // namespace

Status WatchedCalls::run(const Call& call) {
  COHORT_RETURN_IF_ERROR(Flight::check(call));
  if (num_queued_.load(std::memory_order_acquire) == 0) {
    const std::lock_guard turn(turn_mutex_);
    return make(call, call.limit.value_or(facts().limit));
  }
  return start(call.within(call.limit.value_or(facts().limit))).wait();
}

Status WatchedCalls::make(const Call& call, std::chrono::nanoseconds limit) {
  if (has_failed()) return broken_off(call, 0);
  attendance().come(++sequence_);
  if (std::optional<Error> hopeless = deserted(call, sequence_)) {
    return fail_call(*hopeless, call, sequence_);
  }
  Flight flight(flight_group(), call);
  watched_limit_.store(limit.count(), std::memory_order_relaxed);
  watched_call_.store(&call, std::memory_order_relaxed);
  watched_.store(sequence_, std::memory_order_release);
  const int code = flight.run();
  watched_.store(0, std::memory_order_relaxed);
  if (watched_call_.exchange(nullptr, std::memory_order_acq_rel) == nullptr) {
    const std::lock_guard read(watch_mutex_);  // the progress thread is reading the call
  }
  if (code != 0) return reason(code, call);
  flight.finish();
  return {};
}

Status WatchedCalls::reason(int code, const Call& call) {
  const TimePoint ended_at = steady_clock::now();
  while (true) {
    if (std::optional<Status> outcome = explain(code, ended_at, call, sequence_)) return *std::move(outcome);
    std::this_thread::sleep_for(kReasonPause);
  }
}

comm::Work WatchedCalls::start(const Call& call) {
  if (Status fits = Flight::check(call); !fits) return comm::Work::finished(fits.error());
  auto completion = std::make_shared<comm::Completion>(deadline_after(steady_clock::now(), *call.limit));
  {
    const std::lock_guard lock(queue_mutex_);
    num_queued_.fetch_add(1, std::memory_order_release);
    queue_.push_back({call, completion});
    if (!worker_.joinable()) worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
  queue_changed_.notify_one();
  return comm::Work(std::move(completion));
}

std::optional<WatchedCalls::Queued> WatchedCalls::next(const std::stop_token& stop) {
  std::unique_lock lock(queue_mutex_);
  if (!queue_changed_.wait(lock, stop, [&] { return !queue_.empty(); })) return std::nullopt;
  Queued first = std::move(queue_.front());
  queue_.pop_front();
  return first;
}

void WatchedCalls::work(const std::stop_token& stop) {
  while (std::optional<Queued> queued = next(stop)) {
    Status outcome;
    {
      const std::lock_guard turn(turn_mutex_);
      outcome = make(queued->call, queued->completion->deadline() - steady_clock::now());
    }
    num_queued_.fetch_sub(1, std::memory_order_release);
    queued->completion->settle(std::move(outcome));
  }
}

bool WatchedCalls::advance() {
  const std::uint64_t sequence = watched_.load(std::memory_order_acquire);
  if (sequence != seen_) {
    seen_ = sequence;
    const std::chrono::nanoseconds limit(watched_limit_.load(std::memory_order_relaxed));
    late_at_ = sequence == 0 ? TimePoint::max() : deadline_after(steady_clock::now(), limit);
  }
  const bool is_late = seen_ != 0 && steady_clock::now() >= late_at_;
  const bool is_deserted = seen_ != 0 && attendance().has_anybody_left();
  if ((is_late || is_deserted) && end_if_hopeless(sequence, is_late)) return true;
  return num_queued_.load(std::memory_order_acquire) > 0 && end_if_queued_too_long();
}

// Calls that wait for their turn have deadlines, too.
bool WatchedCalls::end_if_queued_too_long() {
  std::optional<Error> error;
  {
    const TimePoint now = steady_clock::now();
    const std::lock_guard lock(queue_mutex_);
    for (const Queued& queued : queue_) {
      if (!error && queued.completion->deadline() <= now) error = never_begun(queued.call);
    }
  }
  if (!error || has_failed()) return false;
  (void)fail(*error);
  return true;
}

bool WatchedCalls::end_if_hopeless(std::uint64_t sequence, bool is_late) {
  std::optional<Error> error;
  {
    const std::lock_guard lock(watch_mutex_);
    const Call* const call = watched_call_.exchange(nullptr, std::memory_order_acq_rel);
    if (call == nullptr) return false;
    if (watched_.load(std::memory_order_acquire) != sequence) {
      // Another call runs by now; it stays watched.
      watched_call_.store(call, std::memory_order_release);
      return false;
    }
    error = deserted(*call, sequence);
    if (!error && is_late) error = timed_out(*call, sequence);
    if (!error) watched_call_.store(call, std::memory_order_release);
  }
  if (!error) return false;
  (void)fail(*error);
  return true;
}

TimePoint WatchedCalls::wanted_at() const {
  return late_at_;
}

void WatchedCalls::close() {
  if (num_queued_.load(std::memory_order_acquire) > 0) (void)fail(closed());
  worker_.request_stop();
  if (worker_.joinable()) worker_.join();
  for (const Queued& queued : queue_) queued.completion->settle(closed());
  queue_.clear();
}

}  // namespace cohort::mpi
