#pragma once

#include "observe/plan_report.h"
#include "observe/screen.h"
#include "observe/step_log.h"

#include <cohort/solver_settings.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::observe {

/// Why a run ended.
enum class RunEnd {
  kDone,           ///< all epochs or steps are done
  kNoImprovement,  ///< train.patience evaluations in a row without a better loss
  kInterrupted,    ///< a signal told the run to end
  kSolved,         ///< the solver has ended: RunSummary::solver says why
};
/// The name: `done`, `no improvement`, `interrupted`, `solved`.
std::string_view name(RunEnd end);

/// The result of a run.
struct RunSummary {
  RunEnd end = RunEnd::kDone;
  int ranks = 1;
  std::int64_t steps = 0;
  std::int64_t skipped_steps = 0;
  std::int64_t epochs = 0;             ///< number of epochs begun
  std::int64_t samples = 0;            ///< number of samples trained on, counted again in each epoch
  std::optional<double> loss{};        ///< of the last step, unless the caller sets another
  std::optional<double> loss_scale{};  ///< of the last step
  std::optional<SolverReport> solver{};
  std::optional<double> best_loss{};  ///< the lowest of all evaluations
  Metrics metrics{};                  ///< of the last evaluation
  double seconds = 0;                 ///< from start to end, with evaluations
  double step_seconds = 0;            ///< the part of `seconds` spent in steps
  double communication_seconds = 0;   ///< the part of step_seconds spent in communication
  double stall_seconds = 0;           ///< the part of step_seconds spent waiting for data
  std::vector<MemoryPart> memory{};   ///< of this rank, for parameters, gradients and optimizer state
  std::int64_t averages = 0;          ///< parameters in the average
  std::int64_t masked = 0;            ///< elements of parameters that are held at zero
  std::int64_t parameters = 0;        ///< elements of all parameters
  std::string parameters_hash{};
  std::string run_directory{};

  /// Adds a step: counts, times, last loss.
  void add(const StepReport& record);
  double samples_per_second() const;
  double communication_share() const;
  double stall_share() const;
};

/// The closing table.
std::string summary_table(const RunSummary& summary, const Screen& screen);
/// The result as one object, for `--json`: steps, loss, metrics, samples_per_second, parameters_hash,
/// run_directory, …
std::string summary_json(const RunSummary& summary);

}  // namespace cohort::observe
