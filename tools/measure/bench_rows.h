#pragma once

#include "measure/bench_run.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cohort::measure {

/// The result of a peer beside ours.
struct PeerTimes {
  double p10_ns = 0;
  double p99_ns = 0;
  double ratio = 0;  ///< the peer's p10 divided by ours: above 1 we are faster
};

/// One line of the report: one of our contenders in one cell, and the peers beside it.
struct BenchRow {
  BenchCell cell{};
  std::string kind{};
  int ranks = 1;
  std::uint32_t batch = 1;
  Summary times{};
  double algorithm_gbps = 0;  ///< S divided by p10, in 10^9 bytes per second
  double bus_gbps = 0;        ///< algorithm_gbps times bus_factor()
  /// A lower bound where memcpy was measured too: the p10 of this operation at its smallest size plus the
  /// time for copying the bytes that this operation must move.
  std::optional<double> predicted_ns{};
  std::map<std::string, PeerTimes> against{};
};

/// An operation that a contender does not have.
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

/// The contenders that are ours (each becomes a row) and the peers beside them.
struct Sides {
  std::vector<ContenderName> ours{};
  std::vector<ContenderName> peers{};
};

/// Adds the results for one number of ranks to the report.
void add_results(BenchReport& report, const std::vector<CellResult>& results, const Sides& sides, int ranks);

}  // namespace cohort::measure
