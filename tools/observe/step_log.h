#pragma once

#include "base/clock.h"
#include "storage/file_system.h"

#include <cohort/step_report.h>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cohort::observe {

/// Names and values measured on the test data, in the order in which they are shown.
using Metrics = std::vector<std::pair<std::string, double>>;

/// The result of one epoch.
struct EpochRecord {
  std::int64_t epoch = 0;  ///< counts from 1
  double loss = 0;         ///< mean over the steps of the epoch
  Metrics metrics{};       ///< empty if nothing was evaluated
};

/// The step as one line of JSON, with its line end. A loss that is not a number is written as null.
std::string json_line(const StepReport& step);

/// The log of a run: a file with one line of JSON for every step.
///
///     COHORT_ASSIGN_OR_RETURN(StepLog log, StepLog::open(files, clock, "runs/job/steps.jsonl"));
///     COHORT_RETURN_IF_ERROR(log.add(record));
///
/// Threads: one at a time.
/// Lifetime: file system and clock must outlive it. The destructor drops lines that were not written: call
/// close() first.
/// Failure: the first failure is returned once and names the file; afterwards every call succeeds without
/// effect, so that a run can go on without its log.
/// Cost: lines are buffered for up to a second.
class StepLog {
 public:
  /// Creates the file and the folders above it. An existing file keeps the lines of the first `steps_before`
  /// steps.
  static Result<StepLog> open(FileSystem& files, const Clock& clock, const std::string& path,
                              std::int64_t steps_before = 0);

  Status add(const StepReport& record);
  /// Writes the buffered lines: before a pause such as an evaluation.
  Status flush();
  /// Writes the buffered lines and syncs the file.
  Status close();

 private:
  StepLog(const Clock& clock, std::string path, std::unique_ptr<WritableFile> file);
  Status checked(Status status);

  const Clock* clock_;
  std::string path_;
  std::unique_ptr<WritableFile> file_;  // null after a failure or close()
  std::string gathered_;
  TimePoint flushed_at_;
};

}  // namespace cohort::observe
