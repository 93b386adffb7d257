#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "comm/group/mailbox.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace cohort::comm {

/// The calls of a mailbox that wait for a reply, by number.
///
/// Threads: every method from any thread. Outcomes are called on the calling thread, without a lock held.
class PendingCalls {
 public:
  using Outcome = std::function<void(Result<Bytes>)>;
  struct PendingCall {
    int to = 0;
    std::uint32_t kind = 0;
    TimePoint deadline{};
    Outcome outcome{};
  };

  /// The number of the call. After close(): nothing, and the outcome is called with the error.
  std::optional<std::uint64_t> add(PendingCall call);
  /// Takes a call to the member `to`; nothing if the call is over already.
  std::optional<PendingCall> take(std::uint64_t number, int to);
  std::vector<PendingCall> take_all_of(int to);
  std::vector<PendingCall> take_expired(TimePoint now);
  /// Ends all calls, and every later one, with this error.
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
