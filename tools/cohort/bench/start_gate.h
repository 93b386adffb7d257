#pragma once

#include "base/result.h"

#include <chrono>
#include <memory>
#include <string>

namespace cohort::tool {

/// A barrier of a few processes that share a file, for contenders without communication.
///
/// Threads: one per process.
/// Failure: kTimedOut if a process does not arrive; the gate cannot be used afterwards.
class StartGate {
 public:
  /// Opens the same file in every process; the first process creates it.
  static Result<StartGate> open(const std::string& file, int processes);

  /// Returns when all processes have called it: spins, then yields.
  Status pass(std::chrono::nanoseconds limit);

 private:
  struct Shared;
  struct Unmap {
    void operator()(Shared* shared) const;
  };

  StartGate(Shared* shared, int processes) : shared_(shared), processes_(processes) {}

  std::unique_ptr<Shared, Unmap> shared_;
  int processes_;
};

}  // namespace cohort::tool
