#pragma once

namespace cohort::tool {

/// SIGINT and SIGTERM ask this process to stop at the next step, from here on.
///
/// Threads: any; there is one of these signals in a process.
class StopSignal {
 public:
  static void install();
  static bool is_raised() noexcept;
};

}  // namespace cohort::tool
