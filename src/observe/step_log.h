#pragma once

#include "base/clock.h"
#include "observe/step_record.h"
#include "storage/file_system.h"

#include <memory>
#include <string>

namespace cohort::observe {

/// The file of a run with a line of JSON for every step.
///
///     COHORT_ASSIGN_OR_RETURN(StepLog log, StepLog::open(files, clock, "runs/job/steps.jsonl"));
///     COHORT_RETURN_IF_ERROR(log.add(record));
///
/// Threads: one at a time.
/// Lifetime: file system and clock must outlive it. The destructor drops what was not written: close() first.
/// Failure: the first failure is returned, once, and names the file; afterwards every call does nothing and
/// succeeds, so that a run may go on without its log.
/// Cost: lines are gathered for up to a second.
class StepLog {
 public:
  /// Makes the file, and the folders above it; one that exists is emptied.
  static Result<StepLog> open(FileSystem& files, const Clock& clock, const std::string& path);

  Status add(const StepRecord& record);
  /// Hands over to the file system what was gathered: before a pause such as an evaluation.
  Status flush();
  /// The rest, synced.
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
