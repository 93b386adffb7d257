#pragma once

#include "base/clock.h"
#include "base/log_sink.h"
#include "config/load.h"
#include "job.h"
#include "observe/log.h"
#include <cohort/context.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace cohort::tool {

/// This process as one of the ranks of a job: its context and log, and which rank reports a failure.
///
/// Threads: one at a time.
/// Lifetime: once per process; the constructor installs the handlers of signals.
/// Failure: the constructor throws what the job file and the environment have wrong, and what keeps ranks from
/// finding each other.
class RankOfJob {
 public:
  explicit RankOfJob(const JobOrder& order);
  RankOfJob(const RankOfJob&) = delete;
  RankOfJob& operator=(const RankOfJob&) = delete;

  Context& context() { return context_; }
  const observe::Log& log() const { return log_; }
  /// A description of threads and allocator.
  const std::string& settings() const { return settings_; }
  /// True once a signal asks the job to end, or its time is over.
  bool wants_to_stop() const;

  /// Calls `prepare` on all ranks together. Most mistakes are the same on all ranks: only the first rank that
  /// failed throws its error, the others throw FailedElsewhere. train.time_limit counts from its end.
  void on_all_ranks(const std::function<void()>& prepare);
  /// Calls `work`, which communicates. Of a failure of all ranks one throws the error, the others throw
  /// FailedElsewhere.
  int run(const std::function<int()>& work);

 private:
  const config::Loaded loaded_;
  const std::string settings_;
  DescriptorSink sink_;
  Context context_;
  RealClock clock_;
  const observe::Log log_;
  std::optional<std::chrono::system_clock::time_point> deadline_;  // from the end of on_all_ranks() on
};

}  // namespace cohort::tool
