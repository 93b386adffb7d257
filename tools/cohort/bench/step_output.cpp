#include "bench/bench_output.h"

#include "base/units.h"
#include "bench/step_contenders.h"
#include "measure/step_run.h"
#include "observe/json_text.h"
#include "observe/table.h"

#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace cohort::tool {
namespace {

using measure::ratio_of;
using nlohmann::ordered_json;
using observe::Cell;
using Number = std::optional<double>;

std::string bf16(const char* contender) {
  return std::string(contender) + kBf16Suffix;
}

// All contenders, in the order of the columns.
std::vector<std::string> all_contenders() {
  std::vector<std::string> contenders{kOurs, kOursAlone, kOursApart, kTorchAlone, kTorchDdp};
  for (const std::string& way : step_ways()) contenders.push_back(way);
  for (const char* contender : {kOurs, kDataParallel, kTorchAlone, kTorchDdp}) {
    contenders.push_back(bf16(contender));
  }
  return contenders;
}

// The 10th percentile.
Number time_of(const StepRow& row, const std::string& contender) {
  const auto found = row.times.find(contender);
  if (found == row.times.end()) return std::nullopt;
  return found->second.p10_ns;
}

Number peak_of(const StepRow& row, const std::string& contender) {
  const auto found = row.memory.find(contender);
  if (found == row.memory.end()) return std::nullopt;
  return static_cast<double>(found->second.peak_bytes);
}

// A page shared with other processes counts in parts.
Number share_of(const StepRow& row, const std::string& contender) {
  const auto found = row.memory.find(contender);
  if (found == row.memory.end()) return std::nullopt;
  return static_cast<double>(found->second.proportional_bytes);
}

Number ratio(const StepRow& row, const std::string& a, const std::string& b) {
  return ratio_of(time_of(row, a), time_of(row, b));
}

// A comparison that is a goal of the library.
struct Comparison {
  std::string key{};
  std::string title{};
  std::function<Number(const StepRow&)> of{};
};

std::vector<Comparison> comparisons() {
  return {
      {"ours_by_torch_alone", "ours / torch",
       [](const StepRow& row) { return ratio(row, kOurs, kTorchAlone); }},
      {"torch_ddp_by_ours", "ddp / ours", [](const StepRow& row) { return ratio(row, kTorchDdp, kOurs); }},
      {"ours_by_ours_alone", "ours / alone",
       [](const StepRow& row) { return ratio(row, kOurs, kOursAlone); }},
      {"ours_by_ours_apart", "ours / apart",
       [](const StepRow& row) { return ratio(row, kOurs, kOursApart); }},
      {"trainer_synchronised_by_ours", "synchronised / local batch norm",
       [](const StepRow& row) { return ratio(row, kTrainerSynchronised, kOurs); }},
      {"data_parallel_by_trainer_without_update", "data_parallel / trainer without update",
       [](const StepRow& row) { return ratio(row, kDataParallel, kTrainerWithoutUpdate); }},
      {"data_parallel_without_update_by_trainer_without_update", "both without update",
       [](const StepRow& row) { return ratio(row, kDataParallelWithoutUpdate, kTrainerWithoutUpdate); }},
      {"data_parallel_without_update_by_loop_without_update", "data_parallel / loop, without update",
       [](const StepRow& row) { return ratio(row, kDataParallelWithoutUpdate, kLoopWithoutUpdate); }},
      {"torch_ddp_by_data_parallel", "ddp / data_parallel",
       [](const StepRow& row) { return ratio(row, kTorchDdp, kDataParallel); }},
      {"ours_by_ours_bf16", "f32 / bf16", [](const StepRow& row) { return ratio(row, kOurs, bf16(kOurs)); }},
      {"data_parallel_by_data_parallel_bf16", "data_parallel f32 / bf16",
       [](const StepRow& row) { return ratio(row, kDataParallel, bf16(kDataParallel)); }},
      {"torch_ddp_by_torch_ddp_bf16", "ddp f32 / bf16",
       [](const StepRow& row) { return ratio(row, kTorchDdp, bf16(kTorchDdp)); }},
      {"torch_ddp_bf16_by_ours_bf16", "ddp / ours, bf16",
       [](const StepRow& row) { return ratio(row, bf16(kTorchDdp), bf16(kOurs)); }},
      {"ours_bf16_by_torch_alone_bf16", "ours / torch, bf16",
       [](const StepRow& row) { return ratio(row, bf16(kOurs), bf16(kTorchAlone)); }},
      {"ours_peak_by_ddp_peak", "memory / ddp",
       [](const StepRow& row) { return ratio_of(peak_of(row, kOurs), peak_of(row, kTorchDdp)); }},
      {"ours_pss_by_ddp_pss", "share of memory / ddp",
       [](const StepRow& row) { return ratio_of(share_of(row, kOurs), share_of(row, kTorchDdp)); }},
      {"our_first_step_by_torch", "first step / torch",
       [](const StepRow& row) { return ratio_of(row.our_first_step_ns, row.torch_first_step_ns); }}};
}

ordered_json milliseconds(const Number& ns) {
  return ns ? ordered_json(rounded(*ns / 1e6)) : ordered_json(nullptr);
}

void add_memory(ordered_json& object, const StepRow& row, const std::string& contender,
                const std::string& key) {
  const auto found = row.memory.find(contender);
  if (found == row.memory.end()) return;
  object[key + "_rss"] = {{"peak_bytes", found->second.peak_bytes},
                          {"pss_bytes", found->second.proportional_bytes}};
}

ordered_json row_json(const StepRow& row) {
  ordered_json object{{"model", row.model}, {"batch", row.batch}, {"ranks", row.ranks}};
  for (const char* contender : {kOurs, kOursAlone, kOursApart, kTorchAlone, kTorchDdp}) {
    object[std::string(contender) + "_ms"] = milliseconds(time_of(row, contender));
  }
  std::vector<std::string> others = step_ways();
  for (const char* contender : {kOurs, kDataParallel, kTorchAlone, kTorchDdp}) {
    others.push_back(bf16(contender));
  }
  for (const std::string& way : others) {
    if (time_of(row, way)) object[way + "_ms"] = milliseconds(time_of(row, way));
  }
  ordered_json ratios = ordered_json::object();
  for (const Comparison& comparison : comparisons()) {
    if (const Number value = comparison.of(row)) ratios[comparison.key] = rounded(*value);
  }
  object["ratios"] = ratios;
  ordered_json samples = ordered_json::object();
  for (const auto& [contender, times] : row.times) samples[contender] = times.count;
  object["samples"] = samples;
  add_memory(object, row, kOurs, "ours");
  add_memory(object, row, kTorchDdp, "ddp");
  if (row.our_first_step_ns) object["first_step_ms"]["ours"] = milliseconds(row.our_first_step_ns);
  if (row.torch_first_step_ns) object["first_step_ms"]["torch"] = milliseconds(row.torch_first_step_ns);
  return object;
}

// A column of the table: its title and the text of a row.
struct Column {
  std::string title{};
  std::function<std::string(const StepRow&)> text{};  ///< empty: not measured
};

std::string time_text(const Number& ns) {
  return ns ? format_duration(std::chrono::nanoseconds(std::llround(*ns))) : "";
}

std::vector<Column> columns() {
  std::vector<Column> all{{"model", [](const StepRow& row) { return row.model; }},
                          {"batch", [](const StepRow& row) { return std::to_string(row.batch); }}};
  for (const std::string& contender : all_contenders()) {
    all.push_back(
        {contender, [contender](const StepRow& row) { return time_text(time_of(row, contender)); }});
  }
  for (const char* contender : {kOurs, kTorchDdp}) {
    all.push_back({fmt::format("peak of {}", contender), [contender](const StepRow& row) -> std::string {
                     const Number peak = peak_of(row, contender);
                     return peak ? format_bytes(static_cast<std::uint64_t>(*peak)) : "";
                   }});
  }
  all.push_back({"first step", [](const StepRow& row) { return time_text(row.our_first_step_ns); }});
  all.push_back({"of torch", [](const StepRow& row) { return time_text(row.torch_first_step_ns); }});
  for (const Comparison& comparison : comparisons()) {
    all.push_back({comparison.title, [of = comparison.of](const StepRow& row) -> std::string {
                     const Number value = of(row);
                     return value ? fmt::format("{:.2f}x", *value) : "";
                   }});
  }
  return all;
}

bool is_measured(const Column& column, const std::vector<StepRow>& rows) {
  for (const StepRow& row : rows) {
    if (!column.text(row).empty()) return true;
  }
  return false;
}

}  // namespace

std::string step_json(const std::vector<StepRow>& rows) {
  ordered_json all = ordered_json::array();
  for (const StepRow& row : rows) all.push_back(row_json(row));
  return observe::json_text({{"rows", all}});
}

std::vector<measure::BarChart> step_charts(const std::vector<StepRow>& rows) {
  std::vector<measure::BarChart> charts;
  for (const StepRow& row : rows) {
    measure::BarChart chart{.title = fmt::format("{}, batch {} per rank, {} rank{}", row.model, row.batch,
                                                 row.ranks, row.ranks == 1 ? "" : "s")};
    for (const std::string& contender : all_contenders()) {
      if (const Number time = time_of(row, contender)) chart.bars.push_back({contender, *time});
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::string step_table(const std::vector<StepRow>& rows, const Session& session) {
  std::vector<Column> shown;
  std::vector<std::string> titles;
  for (Column& column : columns()) {
    if (!is_measured(column, rows)) continue;
    titles.push_back(column.title);
    shown.push_back(std::move(column));
  }
  observe::Table table(titles);
  for (const StepRow& row : rows) {
    std::vector<Cell> cells;
    for (const Column& column : shown) {
      const std::string text = column.text(row);
      cells.push_back({text.empty() ? "-" : text, column.title == kOurs ? Colour::kBold : Colour::kNone});
    }
    table.add(std::move(cells));
  }
  return table.text(session.screen());
}

}  // namespace cohort::tool
