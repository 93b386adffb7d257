#pragma once

#include <chrono>

namespace cohort::tool {

/// SIGINT and SIGTERM ask this process to stop at the next step, from here on.
///
/// Threads: any; there is one of these signals in a process.
class StopSignal {
 public:
  static void install();
  static bool is_raised() noexcept;
  /// Waits until a signal comes, or `limit` is over. Returns at once if one came already.
  static void wait(std::chrono::milliseconds limit);
};

}  // namespace cohort::tool
