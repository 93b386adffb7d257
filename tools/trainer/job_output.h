#pragma once

#include "base/clock.h"
#include "job.h"
#include "observe/progress.h"
#include "observe/run_summary.h"
#include "observe/step_log.h"
#include "run_directory.h"
#include "storage/local_file_system.h"

#include <optional>

namespace cohort::tool {

/// What a job shows and writes down while it runs: on rank 0 the progress, the log of steps and the closing
/// table; the other ranks are silent.
///
/// Failure: a log that cannot be written is said once; training goes on.
class JobOutput {
 public:
  JobOutput(const JobOrder& order, const Job& job, int rank, int world);

  void say_settings(const std::string& settings);
  void step(const StepReport& step);
  void evaluated(const EvaluationReport& seen);
  void close(const TrainingReport& report, const TrainerMemory& memory);

 private:
  void check(const Status& status);

  const JobOrder& order_;
  const int rank_;
  RealClock clock_;
  const TimePoint start_;
  LocalFileSystem files_;
  std::optional<RunDirectory> directory_;
  std::optional<observe::StepLog> log_;
  std::optional<observe::Progress> progress_;
  observe::RunSummary summary_;
};

}  // namespace cohort::tool
