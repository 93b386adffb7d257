#pragma once

#include "measure/bench_run.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cohort::measure {

/// A peer in the cell of a row.
struct PeerTimes {
  double p10_ns = 0;
  double p99_ns = 0;
  double ratio = 0;  ///< the peer's p10 by ours: above 1 we are faster
};

/// One line of the report: one kind of ours in one cell, and the peers beside it.
struct BenchRow {
  BenchCell cell{};
  std::string kind{};
  int ranks = 1;
  std::uint32_t batch = 1;
  Summary times{};
  double algorithm_gbps = 0;  ///< S by p10, in 10^9 bytes per second
  double bus_gbps = 0;        ///< the same times bus_factor()
  /// Where the ranks' copying was measured too: the p10 of this operation at its smallest size plus the time
  /// in which they copy the bytes that this one must move.
  std::optional<double> predicted_ns{};
  std::map<std::string, PeerTimes> against{};
};

/// What a contender cannot do.
struct BenchGap {
  BenchCell cell{};
  std::string contender{};
  int ranks = 1;
  std::string reason{};
};

struct BenchReport {
  std::vector<BenchRow> rows{};
  std::vector<BenchGap> gaps{};
};

/// Which contenders are ours (each becomes a row) and which are the peers beside them.
struct Sides {
  std::vector<ContenderName> ours{};
  std::vector<ContenderName> peers{};
};

/// Adds the results of one number of ranks to the report.
void add_results(BenchReport& report, const std::vector<CellResult>& results, const Sides& sides, int ranks);

}  // namespace cohort::measure
