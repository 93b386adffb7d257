#pragma once

#include "config/config.h"
#include "config/load.h"
#include "data/open.h"
#include "model/loss.h"
#include "observe/screen.h"
#include "storage/local_file_system.h"
#include <cohort/trainer.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

/// The command line of a rank.
struct JobOrder {
  std::string file;
  std::vector<std::string> overrides;
  std::string resume{};  ///< go on from this snapshot, or from the `newest` of the run; empty: begin anew
  bool json = false;
  bool dry_run = false;
  int verbosity = 0;
  int world = 1;                        ///< number of ranks of a dry run
  std::vector<int> host_ranks{};        ///< number of ranks on each host of a dry run; empty: all on one
  std::optional<int> terminal_columns;  ///< width of the terminal, if output goes to one
};

/// The width and colours of tables.
observe::Screen screen_of(const JobOrder& order);

/// The data, model and options of a job file.
struct Job {
  Config config;
  std::shared_ptr<FileSystem> files =
      std::make_shared<LocalFileSystem>();  // before the data, which reads from it
  OpenedData data;
  std::shared_ptr<Model> model;
  LossKind loss{};
  TrainerOptions options;

  Output output() const;
  OutputLoss output_loss() const;
};

/// The number of optimizer steps that a job takes if nothing ends it early.
struct JobLength {
  std::int64_t steps_per_epoch = 0;
  std::int64_t steps = 0;
};
JobLength length_of(const Config& config, std::int64_t samples);

/// Reads the job file and applies the settings of the command line.
///
/// Failure: throws UsageError or Error naming the file, and each key that is wrong.
config::Loaded load_job(const JobOrder& order);

/// Reads the job file, opens the data, builds the model and loads its initial weights.
///
/// Failure: throws UsageError or Error naming key or file.
Job make_job(const JobOrder& order);

/// Thrown on a rank whose failure follows from that of another rank, which reports it.
struct FailedElsewhere {
  int rank = 0;       ///< the rank that failed
  int exit_code = 0;  ///< the exit code of this process
};

/// Trains, as one of the ranks. Returns the exit code of the process: 0, kStoppedExitCode if
/// it was told to stop and its state is saved, or 130 if its state is not saved.
///
/// Failure: throws the failure of this rank, or FailedElsewhere.
int run_job(const JobOrder& order);
/// Prints the plan of a job without training.
void show_plan(const JobOrder& order);

}  // namespace cohort::tool
