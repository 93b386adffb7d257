#include "bench/bench_output.h"

#include "base/units.h"
#include "observe/json_text.h"
#include "observe/table.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

namespace cohort::tool {

double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

namespace {

using observe::Cell;
using observe::json_text;
using observe::Table;

using measure::BenchGap;
using measure::BenchReport;
using measure::BenchRow;

double microseconds(double ns) {
  return rounded(ns / 1000);
}

nlohmann::ordered_json row_json(const BenchRow& row) {
  nlohmann::ordered_json against = nlohmann::ordered_json::object();
  for (const auto& [peer, times] : row.against) {
    against[peer] = {{"p10_us", microseconds(times.p10_ns)},
                     {"p99_us", microseconds(times.p99_ns)},
                     {"ratio", rounded(times.ratio)}};
  }
  nlohmann::ordered_json object{{"operation", name(row.cell.operation)},
                                {"bytes", row.cell.bytes},
                                {"kind", row.kind},
                                {"ranks", row.ranks},
                                {"samples", row.times.count},
                                {"calls_per_sample", row.batch},
                                {"best_us", microseconds(row.times.best_ns)},
                                {"p10_us", microseconds(row.times.p10_ns)},
                                {"p50_us", microseconds(row.times.p50_ns)},
                                {"p95_us", microseconds(row.times.p95_ns)},
                                {"p99_us", microseconds(row.times.p99_ns)},
                                {"algorithm_gbps", rounded(row.algorithm_gbps)},
                                {"bus_gbps", rounded(row.bus_gbps)}};
  if (row.predicted_ns) object["predicted_us"] = microseconds(*row.predicted_ns);
  object["against"] = against;
  return object;
}

std::string ratio_text(double ratio) {
  return ratio >= 1000 ? fmt::format("{:.0f}x", ratio) : fmt::format("{:.3g}x", ratio);
}

std::string time_text(double ns) {
  if (ns < 1000) return fmt::format("{:.0f} ns", ns);
  return format_duration(std::chrono::nanoseconds(std::llround(ns)));
}

std::string size_text(const measure::BenchCell& cell) {
  return cell.operation == measure::BenchOperation::kBarrier ? "-" : format_bytes(cell.bytes);
}

std::set<std::string> peers_of(const BenchReport& report) {
  std::set<std::string> peers;
  for (const BenchRow& row : report.rows) {
    for (const auto& [peer, times] : row.against) peers.insert(peer);
  }
  return peers;
}

bool has_predictions(const BenchReport& report) {
  for (const BenchRow& row : report.rows) {
    if (row.predicted_ns) return true;
  }
  return false;
}

std::vector<Cell> row_cells(const BenchRow& row, const std::set<std::string>& peers, bool predictions) {
  std::vector<Cell> cells = {{std::string(name(row.cell.operation)), Colour::kBold},
                             {size_text(row.cell)},
                             {row.kind},
                             {std::to_string(row.ranks)},
                             {time_text(row.times.best_ns)},
                             {time_text(row.times.p10_ns), Colour::kBold},
                             {time_text(row.times.p50_ns)},
                             {time_text(row.times.p95_ns)},
                             {time_text(row.times.p99_ns)},
                             {row.bus_gbps > 0 ? fmt::format("{:.3g}", row.bus_gbps) : "-"}};
  if (predictions) cells.push_back({row.predicted_ns ? time_text(*row.predicted_ns) : "-"});
  for (const std::string& peer : peers) {
    const auto found = row.against.find(peer);
    if (found == row.against.end()) {
      cells.push_back({"-"});
      continue;
    }
    const Colour colour = found->second.ratio >= 1 ? Colour::kGreen : Colour::kYellow;
    cells.push_back(
        {fmt::format("{} ({})", ratio_text(found->second.ratio), time_text(found->second.p10_ns)), colour});
  }
  return cells;
}

// Adds a point unless the line has one at this size: the rows of each kind repeat the same peers.
void add_point(measure::Plot& plot, const std::string& label, measure::PlotPoint point) {
  for (measure::PlotLine& line : plot.lines) {
    if (line.label != label) continue;
    for (const measure::PlotPoint& there : line.points) {
      if (there.x == point.x) return;
    }
    line.points.push_back(point);
    return;
  }
  plot.lines.push_back({.label = label, .points = {point}});
}

}  // namespace

std::string bench_json(const BenchReport& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const BenchRow& row : report.rows) rows.push_back(row_json(row));
  nlohmann::ordered_json gaps = nlohmann::ordered_json::array();
  for (const BenchGap& gap : report.gaps) {
    gaps.push_back({{"operation", name(gap.cell.operation)},
                    {"bytes", gap.cell.bytes},
                    {"contender", gap.contender},
                    {"ranks", gap.ranks},
                    {"reason", gap.reason}});
  }
  return json_text({{"rows", rows}, {"unsupported", gaps}});
}

std::string bench_table(const BenchReport& report, const Session& session) {
  const auto peers = peers_of(report);
  const bool predictions = has_predictions(report);
  std::vector<std::string> header = {"operation", "size", "kind", "ranks", "best",
                                     "p10",       "p50",  "p95",  "p99",   "bus GB/s"};
  if (predictions) header.emplace_back("predicted");
  for (const std::string& peer : peers) header.push_back("by " + peer);
  Table table(header);
  for (const BenchRow& row : report.rows) table.add(row_cells(row, peers, predictions));
  std::string text = table.text(session.screen());
  std::set<std::string> told;
  for (const BenchGap& gap : report.gaps) {
    const std::string line =
        fmt::format("{} has no {}: {}\n", gap.contender, name(gap.cell.operation), gap.reason);
    if (told.insert(line).second) text += line;
  }
  return text;
}

std::vector<measure::Plot> bench_plots(const BenchReport& report) {
  std::vector<measure::Plot> plots;
  for (const BenchRow& row : report.rows) {
    if (row.cell.operation == measure::BenchOperation::kBarrier) continue;
    const std::string title = fmt::format("{}, {} ranks", name(row.cell.operation), row.ranks);
    auto plot = std::find_if(plots.begin(), plots.end(), [&](const auto& p) { return p.title == title; });
    if (plot == plots.end()) plot = plots.insert(plots.end(), {.title = title});
    const auto size = static_cast<double>(row.cell.bytes);
    add_point(*plot, row.kind, {.x = size, .y = row.times.p10_ns});
    for (const auto& [peer, times] : row.against) add_point(*plot, peer, {.x = size, .y = times.p10_ns});
  }
  return plots;
}

}  // namespace cohort::tool
