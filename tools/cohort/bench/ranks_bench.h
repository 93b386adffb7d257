#pragma once

#include "base/result.h"
#include "comm/schedule/effort.h"
#include "comm/shared_memory/arena.h"
#include "launch/environment.h"
#include "measure/bench_operation.h"
#include "measure/statistics.h"
#include <cohort/collective_algorithm.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

struct RanksBenchOptions {
  std::vector<measure::BenchOperation> operations{};
  std::vector<std::uint64_t> sizes{};
  std::vector<CollectiveAlgorithm> algorithms{};  ///< each measured in turn; empty: the chosen one
  std::optional<std::uint64_t> chunk_bytes{};     ///< forced; not set: as chosen
  int rounds = 5;
  std::chrono::nanoseconds time = std::chrono::seconds(1);  ///< of one algorithm in one cell, over all rounds
};

/// One algorithm at one size.
struct RanksRow {
  measure::BenchOperation operation{};
  std::uint64_t bytes = 0;
  std::string algorithm{};
  std::size_t chunks = 1;
  bool is_chosen = false;
  measure::Summary times{};
  double bus_factor = 0;
  double predicted_s = 0;
};

struct RanksReport {
  int ranks = 1;
  int hosts = 1;
  measure::Summary link_times{};  ///< of the bare link from rank 0 to rank 1
  measure::Summary ring_times{};  ///< of all bare links at once, each as many bytes to the next
  std::uint64_t link_bytes = 0;
  comm::Prices prices{};  ///< measured when the ranks met
  std::vector<RanksRow> rows{};
};

/// Measures collective calls between the ranks that a launcher started on several hosts. Algorithms take
/// turns with each other and with a bare TCP connection, and every result is checked. Rank 0 gets the
/// complete report.
///
/// Failure: kUsage for a single rank and for the backend mpi.
Result<RanksReport> bench_ranks(const LaunchFacts& facts, const RanksBenchOptions& options);

}  // namespace cohort::tool
