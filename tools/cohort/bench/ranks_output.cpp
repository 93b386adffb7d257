#include "bench/bench_output.h"

#include "base/units.h"
#include "observe/json_text.h"
#include "observe/table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace cohort::tool {
namespace {

using observe::Cell;

double seconds(const measure::Summary& times) {
  return times.p10_ns * 1e-9;
}

// The bandwidth of each rank's link in bytes per second.
double bus_bytes(const RanksRow& row) {
  return static_cast<double>(row.bytes) * row.bus_factor / seconds(row.times);
}

double link_bytes(const RanksReport& report) {
  return static_cast<double>(report.link_bytes) / seconds(report.link_times);
}

double ring_bytes(const RanksReport& report) {
  return static_cast<double>(report.link_bytes) / seconds(report.ring_times);
}

// The time of the chosen row relative to the best measured one; only for the chosen row.
std::optional<double> regret(const RanksReport& report, const RanksRow& row) {
  if (!row.is_chosen) return std::nullopt;
  double best = seconds(row.times);
  for (const RanksRow& other : report.rows) {
    if (other.operation == row.operation && other.bytes == row.bytes) {
      best = std::min(best, seconds(other.times));
    }
  }
  return seconds(row.times) / best - 1;
}

std::string duration(double value_s) {
  return format_duration(std::chrono::nanoseconds(std::llround(value_s * 1e9)));
}

std::string megabits(double bytes_per_s) {
  return fmt::format("{:.4g}", bytes_per_s * 8e-6);
}

std::vector<Cell> cells_of(const RanksReport& report, const RanksRow& row) {
  const auto lost = regret(report, row);
  const bool has_bus = row.bus_factor > 0;
  return {{std::string(name(row.operation)), Colour::kBold},
          {format_bytes(row.bytes)},
          {row.algorithm, row.is_chosen ? Colour::kGreen : Colour::kNone},
          {std::to_string(row.chunks)},
          {lost ? fmt::format("{:+.1f} %", 100 * *lost) : "-"},
          {duration(seconds(row.times)), Colour::kBold},
          {duration(row.predicted_s)},
          {fmt::format("{:.2f}", seconds(row.times) / row.predicted_s)},
          {has_bus ? megabits(bus_bytes(row)) : "-"},
          {has_bus ? fmt::format("{:.3f}", bus_bytes(row) / link_bytes(report)) : "-"}};
}

nlohmann::ordered_json prices_json(const comm::Prices& prices) {
  return {{"message_us", prices.step_s * 1e6},
          {"byte_ns", prices.byte_s * 1e9},
          {"far_message_us", prices.far_step_s * 1e6},
          {"far_byte_ns", prices.far_byte_s * 1e9},
          {"combined_byte_ns", prices.combined_byte_s * 1e9}};
}

}  // namespace

std::string ranks_table(const RanksReport& report, const Session& session) {
  observe::Table table({"operation", "size", "algorithm", "chunks", "regret", "p10", "predicted", "by that",
                        "bus Mbit/s", "by bare TCP"});
  for (const RanksRow& row : report.rows) table.add(cells_of(report, row));
  return fmt::format(
      "{} ranks on {} hosts; bare TCP from rank 0 to rank 1: {} Mbit/s; from each to the next at once: {} "
      "Mbit/s; found when they met: {} for a message, {} Mbit/s\n\n{}",
      report.ranks, report.hosts, megabits(link_bytes(report)), megabits(ring_bytes(report)),
      duration(report.prices.far_step_s), megabits(1 / report.prices.far_byte_s),
      table.text(session.screen()));
}

std::string ranks_json(const RanksReport& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const RanksRow& row : report.rows) {
    nlohmann::ordered_json object{{"operation", name(row.operation)},
                                  {"bytes", row.bytes},
                                  {"algorithm", row.algorithm},
                                  {"chunks", row.chunks},
                                  {"is_chosen", row.is_chosen},
                                  {"samples", row.times.count},
                                  {"p10_us", row.times.p10_ns / 1000},
                                  {"p50_us", row.times.p50_ns / 1000},
                                  {"predicted_us", row.predicted_s * 1e6},
                                  {"by_predicted", seconds(row.times) / row.predicted_s},
                                  {"bus_mbps", bus_bytes(row) * 8e-6},
                                  {"by_bare_tcp", bus_bytes(row) / link_bytes(report)}};
    if (const auto lost = regret(report, row)) object["regret"] = *lost;
    rows.push_back(object);
  }
  return observe::json_text({{"ranks", report.ranks},
                             {"hosts", report.hosts},
                             {"bare_tcp_mbps", link_bytes(report) * 8e-6},
                             {"bare_ring_mbps", ring_bytes(report) * 8e-6},
                             {"prices", prices_json(report.prices)},
                             {"rows", rows}});
}

}  // namespace cohort::tool
