#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace cohort::c10d_plugin {

/// A barrier through the store instead of the group's connections, so that a timeout names the missing ranks
/// and leaves the group usable. Every rank but 0 sets a key; rank 0 waits for all keys and then sets a key
/// that releases the others. A rank that fails deletes its key and does not count the barrier: all ranks try
/// the same number again.
struct MonitoredBarrier {
  ::c10d::Store& store;
  std::uint64_t number = 0;  ///< barriers that this rank has passed
  int rank = 0;
  int world = 1;
  std::chrono::milliseconds limit{};
  bool names_all = false;  ///< name all missing ranks instead of the first

  /// Throws DistBackendError with the same words as Gloo, as programs search for them.
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
