#pragma once

#include "base/log.h"
#include "config/config.h"
#include "data/open.h"
#include "model/loss.h"
#include <cohort/trainer.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

/// How a rank was told to do its job.
struct JobOrder {
  std::string file;
  std::vector<std::string> overrides;
  bool json = false;
  bool dry_run = false;
  int verbosity = 0;
  int world = 1;                        ///< of a dry run
  std::optional<int> terminal_columns;  ///< where output goes to a terminal
};

/// Data, model and options that a job file asks for.
struct Job {
  Config config;
  OpenedData data;
  std::shared_ptr<Model> model;
  LossKind loss{};
  TrainerOptions options;

  Objective objective() const;
};

/// Reads the file, opens the data, builds the model and fills it.
/// Failure: throws UsageError or Error naming key or file.
Job make_job(const JobOrder& order);

/// Another rank has failed, and says why.
struct FailedElsewhere {
  int rank = 0;
};

/// Trains, as one of the ranks. Returns what the process shall exit with: 0, or 130 if it was told to stop.
/// Failure: throws what went wrong here, or FailedElsewhere.
int run_job(const JobOrder& order);
/// Prints what run_job() would do.
void show_plan(const JobOrder& order);

}  // namespace cohort::tool
