#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace cohort::c10d_plugin {

/// A barrier at a store, not among the ranks of a group: who does not come is named, and the group goes on.
/// Rank 0 waits for the others, and they wait for its word. Who fails takes back that it was there, and
/// counts the barrier as not passed: all ranks meet again in the next one, under the same number.
struct MonitoredBarrier {
  ::c10d::Store& store;
  std::uint64_t number = 0;  ///< how many this rank has passed
  int rank = 0;
  int world = 1;
  std::chrono::milliseconds limit{};
  bool names_all = false;  ///< that are missing, instead of the first

  /// Failure: torch's DistBackendError, in the words that programs look for.
  void pass() const;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  void wait_for_word(TimePoint deadline) const;
  void wait_for_others(TimePoint deadline) const;
  std::string key_of(int rank) const;
  bool has_come(const std::string& key, TimePoint deadline) const;
  std::string missing_ranks(TimePoint deadline) const;
  [[noreturn]] void fail(const std::string& who) const;
};

}  // namespace cohort::c10d_plugin
