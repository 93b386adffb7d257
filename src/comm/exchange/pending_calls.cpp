#include "comm/exchange/pending_calls.h"

#include <utility>

namespace cohort::comm {

std::optional<std::uint64_t> PendingCalls::add(PendingCall call) {
  std::optional<Error> closed;
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      const std::uint64_t number = next_number_++;
      by_deadline_.emplace(call.deadline, number);
      calls_.emplace(number, std::move(call));
      return number;
    }
    closed = closed_;
  }
  call.outcome(*closed);
  return std::nullopt;
}

std::optional<PendingCalls::PendingCall> PendingCalls::take(std::uint64_t number, int to) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(number);
  if (found == calls_.end() || found->second.to != to) return std::nullopt;
  PendingCall call = std::move(found->second);
  by_deadline_.erase({call.deadline, number});
  calls_.erase(found);
  return call;
}

template <class Predicate>
std::vector<PendingCalls::PendingCall> PendingCalls::take_where(const Predicate& predicate) {
  std::vector<PendingCall> taken;
  for (auto at = calls_.begin(); at != calls_.end();) {
    if (!predicate(at->second)) {
      ++at;
      continue;
    }
    by_deadline_.erase({at->second.deadline, at->first});
    taken.push_back(std::move(at->second));
    at = calls_.erase(at);
  }
  return taken;
}

std::vector<PendingCalls::PendingCall> PendingCalls::take_all_of(int to) {
  const std::lock_guard lock(mutex_);
  return take_where([&](const PendingCall& call) { return call.to == to; });
}

std::vector<PendingCalls::PendingCall> PendingCalls::take_expired(TimePoint now) {
  const std::lock_guard lock(mutex_);
  std::vector<PendingCall> taken;
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    const auto found = calls_.find(by_deadline_.begin()->second);
    taken.push_back(std::move(found->second));
    calls_.erase(found);
    by_deadline_.erase(by_deadline_.begin());
  }
  return taken;
}

void PendingCalls::close(const Error& why) {
  std::vector<PendingCall> taken;
  {
    const std::lock_guard lock(mutex_);
    closed_ = why;
    taken = take_where([](const PendingCall&) { return true; });
  }
  for (const PendingCall& call : taken) call.outcome(why);
}

TimePoint PendingCalls::wanted_at() const {
  const std::lock_guard lock(mutex_);
  return by_deadline_.empty() ? TimePoint::max() : by_deadline_.begin()->first;
}

}  // namespace cohort::comm
