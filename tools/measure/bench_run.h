#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "measure/protocol.h"
#include "measure/statistics.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cohort::measure {

/// A contender: a group of processes and a kind of buffer or call that the group offers.
struct ContenderName {
  std::string group{};
  std::string kind{};

  /// The name in tables.
  const std::string& label() const { return kind; }
  bool operator==(const ContenderName&) const = default;
};

/// The cells to measure: every operation at every size with every contender.
struct BenchPlan {
  std::vector<BenchOperation> operations{};
  std::vector<std::uint64_t> sizes{};
  std::vector<ContenderName> contenders{};
  int ranks = 2;
  int rounds = 5;
  std::chrono::nanoseconds time_per_cell =
      std::chrono::milliseconds(500);    ///< of one contender, over all rounds
  std::optional<std::uint32_t> batch{};  ///< calls per sample; if absent, chosen by size
};

/// One operation at one size.
struct BenchCell {
  BenchOperation operation = BenchOperation::kAllReduce;
  std::uint64_t bytes = 0;
};

/// The times of one contender in one cell, or the reason why there are none.
struct CellTimes {
  ContenderName contender{};
  std::optional<Summary> summary{};
  std::string unsupported{};
};

struct CellResult {
  BenchCell cell{};
  std::uint32_t batch = 1;
  std::vector<CellTimes> times{};  ///< in the order of the plan's contenders
};

/// Gets samples from a contender. kUnsupported leaves the contender out of the cell; any other failure ends
/// the benchmark.
using TakeSamples = std::function<Result<std::vector<double>>(const ContenderName&, const RunCommand&)>;
/// Called before each cell, with the number of cells done and of all cells.
using Progress = std::function<void(const BenchCell&, std::size_t done, std::size_t all)>;

/// Operations × sizes; barrier has no size and is one cell.
std::vector<BenchCell> cells_of(const BenchPlan& plan);

/// Calls per sample: enough to make the cost of reading the clock negligible, and few enough to keep their
/// buffers within 256 KiB. The same for every contender.
std::uint32_t calls_per_sample(std::uint64_t bytes);

/// Measures every cell: all contenders warm up, then take turns for `rounds` rounds (A B C A B C …), so that
/// a disturbance of the machine affects all of them. The number of samples per turn follows from the time of
/// one sample.
Result<std::vector<CellResult>> run_plan(const BenchPlan& plan, const TakeSamples& take,
                                         const Progress& progress, const Clock& clock);

}  // namespace cohort::measure
