#pragma once

#include "base/clock.h"
#include "session.h"

#include <cstdint>
#include <optional>
#include <string>

namespace cohort::tool {

/// Shows on the terminal how much of some bytes is done: `verify: 1.2 GiB of 4 GiB, 30 %, 1m20s left`.
///
/// Threads: one at a time.
class ByteProgress {
 public:
  ByteProgress(std::string action, std::uint64_t total_bytes)
      : action_(std::move(action)), total_bytes_(total_bytes) {}

  void add(std::uint64_t bytes);

 private:
  const RealClock clock_;
  const ProgressLine line_;
  const std::string action_;
  const std::uint64_t total_bytes_;
  const TimePoint begin_ = clock_.now();
  std::uint64_t done_bytes_ = 0;
  TimePoint written_at_ = begin_;
};

}  // namespace cohort::tool
