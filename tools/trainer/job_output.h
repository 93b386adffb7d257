#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "job.h"
#include "observe/progress.h"
#include "observe/run_summary.h"
#include "observe/step_log.h"
#include "storage/folder_lock.h"
#include "storage/local_file_system.h"

#include <optional>
#include <string>

namespace cohort::tool {

/// The folder that a run writes to, locked against other jobs while this lives. The trainer moves the results
/// of an earlier run away.
///
/// Lifetime: the lock ends with the process, however the process ends.
/// Failure: kUsage if another job uses the folder; else the error of the operating system. Both name
/// train.directory.
class RunDirectory {
 public:
  static Result<RunDirectory> take(const std::string& path);

 private:
  explicit RunDirectory(FolderLock lock) : lock_(std::move(lock)) {}

  FolderLock lock_;
};

/// The output of a job: on rank 0 the progress, the log of steps and the summary; the other ranks write
/// nothing.
///
/// Failure: a log that cannot be written is reported once; training goes on.
class JobOutput {
 public:
  JobOutput(const JobOrder& order, const Job& job, int rank, int world);

  void say_settings(const std::string& settings);
  void resumed(const ResumeReport& report);
  void step(const StepReport& step);
  void evaluated(const EvaluationReport& seen);
  void close(const TrainingReport& report, const TrainerMemory& memory);

 private:
  void check(const Status& status);
  void open_log(std::int64_t steps_before);
  void say_fallback(const StepReport& step);

  const JobOrder& order_;
  const int rank_;
  RealClock clock_;
  const TimePoint start_;
  LocalFileSystem files_;
  std::optional<RunDirectory> directory_;
  std::optional<observe::StepLog> log_;
  bool resumes_ = false;        // goes on from a snapshot if there is one
  bool has_snapshots_ = false;  // no line of the log may be missing if training goes on from one
  std::optional<observe::Progress> progress_;
  observe::RunSummary summary_;
  std::vector<int> f32_stages_{};  // of the last step
};

}  // namespace cohort::tool
