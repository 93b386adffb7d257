#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "comm/mailbox.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace cohort::comm {

/// The calls of a mailbox that wait for their reply, by number.
///
/// Threads: every method from any thread; outcomes are told without a lock held, on the thread that calls.
class PendingCalls {
 public:
  using Outcome = std::function<void(Result<Bytes>)>;
  struct PendingCall {
    int to = 0;
    std::uint32_t kind = 0;
    TimePoint deadline{};
    Outcome outcome{};
  };

  /// Its number; nothing, and the call told so, after close().
  std::optional<std::uint64_t> add(PendingCall call);
  /// Takes a call that `to` was asked for; nothing if it is over already.
  std::optional<PendingCall> take(std::uint64_t number, int to);
  std::vector<PendingCall> take_all_of(int to);
  std::vector<PendingCall> take_expired(TimePoint now);
  /// Ends all, and every later one, with this error.
  void close(const Error& why);
  /// The earliest deadline.
  TimePoint wanted_at() const;

 private:
  template <class Predicate>
  std::vector<PendingCall> take_where(const Predicate& predicate);

  mutable std::mutex mutex_;
  std::uint64_t next_number_ = 0;
  std::optional<Error> closed_;
  std::map<std::uint64_t, PendingCall> calls_;
  std::set<std::pair<TimePoint, std::uint64_t>> by_deadline_;
};

}  // namespace cohort::comm
