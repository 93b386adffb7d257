#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace cohort::ucx {

/// Gives out numbered items (from 1 on) in the order of their numbers, whatever order they arrive in.
///
/// Threads: one at a time.
/// Lifetime: the item that front() returned stays at its address until pop().
template <class T>
class InOrder {
 public:
  void add(std::uint64_t number, T thing) {
    if (number != next_) {
      early_.emplace(number, std::move(thing));
      return;
    }
    ready_.push_back(std::move(thing));
    for (++next_; !early_.empty() && early_.begin()->first == next_; ++next_) {
      ready_.push_back(std::move(early_.begin()->second));
      early_.erase(early_.begin());
    }
  }

  /// The next item, or null if it has not arrived.
  T* front() { return ready_.empty() ? nullptr : &ready_.front(); }
  void pop() { ready_.pop_front(); }

  /// Visits every item that can be given out now, one after the other.
  template <class Visit>
  void for_each_ready(const Visit& visit) {
    for (T& thing : ready_) visit(thing);
  }

  /// Visits all remaining items in order, with or without gaps, and removes them.
  template <class Visit>
  void drain(const Visit& visit) {
    for (T& thing : ready_) visit(thing);
    for (auto& [number, thing] : early_) visit(thing);
    ready_.clear();
    early_.clear();
  }

 private:
  std::uint64_t next_ = 1;
  std::deque<T> ready_;
  std::map<std::uint64_t, T> early_;
};

}  // namespace cohort::ucx
