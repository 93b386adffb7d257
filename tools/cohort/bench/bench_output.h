#pragma once

#include "bench/group_processes.h"
#include "bench/ranks_bench.h"
#include "measure/bench_rows.h"
#include "measure/statistics.h"
#include "measure/svg_bars.h"
#include "measure/svg_plot.h"
#include "session.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

/// The number with four significant digits, more would be noise; 0 for a number that is not finite.
double rounded(double value);

/// One object: `rows`, and in `unsupported` the operations that a contender does not have.
std::string bench_json(const measure::BenchReport& report);
/// The results as a table.
std::string bench_table(const measure::BenchReport& report, const Session& session);
/// One plot per operation and number of ranks, one line per kind and peer.
std::vector<measure::Plot> bench_plots(const measure::BenchReport& report);

/// A row for each algorithm and cell: time, bandwidth compared with the bare link, prediction, and the loss
/// of the chosen algorithm against the best.
std::string ranks_table(const RanksReport& report, const Session& session);
std::string ranks_json(const RanksReport& report);

/// The results for a model with one batch size. A contender that did not take part is missing.
struct StepRow {
  std::string model{};
  int batch = 1;  ///< per rank
  int ranks = 2;
  std::map<std::string, measure::Summary> times{};  ///< by contender
  std::map<std::string, MemoryUse> memory{};        ///< by contender: the largest rank
  std::optional<double> our_first_step_ns{};
  std::optional<double> torch_first_step_ns{};
};

/// The results as one object with `rows`.
std::string step_json(const std::vector<StepRow>& rows);
/// A chart for each model and batch size, with a bar for each contender: the 10th percentile.
std::vector<measure::BarChart> step_charts(const std::vector<StepRow>& rows);
/// The results as a table.
std::string step_table(const std::vector<StepRow>& rows, const Session& session);

/// The results for saving, waiting or loading.
struct CheckpointRow {
  std::string what{};  ///< save, stall or load
  int ranks = 2;
  std::uint64_t total_bytes = 0;                    ///< of the whole state
  std::map<std::string, measure::Summary> times{};  ///< by contender: ours, dcp, write, read, copy
};

/// The results as one object with `rows`. Fields that do not apply to a row are null.
std::string checkpoint_json(const std::vector<CheckpointRow>& rows);
/// The results as a table.
std::string checkpoint_table(const std::vector<CheckpointRow>& rows, const Session& session);

}  // namespace cohort::tool
