#include "measure/bench_rows.h"

#include <algorithm>

namespace cohort::measure {
namespace {

constexpr const char* kCopier = "memcpy";

const CellTimes* find(const CellResult& result, const ContenderName& contender) {
  for (const CellTimes& times : result.times) {
    if (times.contender == contender) return &times;
  }
  return nullptr;
}

const CellTimes* find_measured(const CellResult& result, const ContenderName& contender) {
  const CellTimes* times = find(result, contender);
  return times != nullptr && times->summary ? times : nullptr;
}

// Bytes per nanosecond are 10^9 bytes per second.
double bandwidth(double bytes, double time_ns) {
  return time_ns > 0 ? bytes / time_ns : 0;
}

BenchRow make_row(const CellResult& result, const CellTimes& mine, const Sides& sides, int ranks) {
  const BenchCell& cell = result.cell;
  BenchRow row{.cell = cell,
               .kind = mine.contender.label(),
               .ranks = ranks,
               .batch = result.batch,
               .times = *mine.summary};
  const auto bytes = static_cast<double>(elements_of(cell.operation, cell.bytes, ranks) * sizeof(float));
  row.algorithm_gbps = bandwidth(bytes, row.times.p10_ns);
  row.bus_gbps = row.algorithm_gbps * bus_factor(cell.operation, ranks);
  for (const ContenderName& peer : sides.peers) {
    const CellTimes* theirs = find_measured(result, peer);
    if (theirs == nullptr) continue;
    const double ratio = row.times.p10_ns > 0 ? theirs->summary->p10_ns / row.times.p10_ns : 0;
    row.against[peer.label()] = {
        .p10_ns = theirs->summary->p10_ns, .p99_ns = theirs->summary->p99_ns, .ratio = ratio};
  }
  return row;
}

bool same_line(const BenchRow& a, const BenchRow& b) {
  return a.cell.operation == b.cell.operation && a.kind == b.kind && a.ranks == b.ranks;
}

void predict(std::vector<BenchRow>& rows) {
  for (BenchRow& row : rows) {
    const auto copier = row.against.find(kCopier);
    if (copier == row.against.end() || row.cell.operation == BenchOperation::kBarrier) continue;
    const auto smallest =
        std::min_element(rows.begin(), rows.end(), [&](const BenchRow& a, const BenchRow& b) {
          if (same_line(a, row) != same_line(b, row)) return same_line(a, row);
          return a.cell.bytes < b.cell.bytes;
        });
    if (smallest->cell.bytes == row.cell.bytes) continue;
    row.predicted_ns = smallest->times.p10_ns + copier->second.p10_ns;
  }
}

}  // namespace

void add_results(BenchReport& report, const std::vector<CellResult>& results, const Sides& sides, int ranks) {
  for (const CellResult& result : results) {
    for (const ContenderName& contender : sides.ours) {
      const CellTimes* mine = find_measured(result, contender);
      if (mine != nullptr) report.rows.push_back(make_row(result, *mine, sides, ranks));
    }
    for (const CellTimes& times : result.times) {
      if (times.summary) continue;
      report.gaps.push_back({.cell = result.cell,
                             .contender = times.contender.label(),
                             .ranks = ranks,
                             .reason = times.unsupported});
    }
  }
  predict(report.rows);
}

}  // namespace cohort::measure
