#pragma once

#include "observe/memory_part.h"
#include "observe/screen.h"
#include "observe/step_record.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::observe {

/// Why a run ended.
enum class RunEnd {
  kDone,           ///< all epochs or steps are done
  kNoImprovement,  ///< train.patience evaluations in a row brought nothing
  kInterrupted,    ///< somebody told it to end
};
/// `done`, `no improvement`, `interrupted`.
std::string_view name(RunEnd end);

/// What a run came to.
struct RunSummary {
  RunEnd end = RunEnd::kDone;
  int ranks = 1;
  std::int64_t steps = 0;
  std::int64_t skipped_steps = 0;
  std::int64_t epochs = 0;            ///< that were begun
  std::int64_t samples = 0;           ///< that were learned from, each time anew
  std::optional<double> loss{};       ///< of the last step, or what the caller puts here
  std::optional<double> best_loss{};  ///< of all evaluations
  Metrics metrics{};                  ///< of the last evaluation
  double seconds = 0;                 ///< from start to end, evaluations and all
  double step_seconds = 0;            ///< of that, in steps
  double communication_seconds = 0;   ///< of step_seconds
  double stall_seconds = 0;           ///< of step_seconds
  std::vector<MemoryPart> memory{};   ///< of this rank, for parameters and what belongs to them
  std::string parameters_hash{};
  std::string run_directory{};

  /// Takes in a step: counts, times, last loss.
  void add(const StepRecord& record);
  double samples_per_second() const;
  double communication_share() const;
  double stall_share() const;
};

/// The closing table, for people.
std::string summary_table(const RunSummary& summary, const Screen& screen);
/// One object, for `--json`: steps, loss, metrics, samples_per_second, parameters_hash, run_directory, …
std::string summary_json(const RunSummary& summary);

}  // namespace cohort::observe
