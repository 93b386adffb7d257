#include "bench/optimizer_row.h"

#include "base/units.h"
#include "bench/bench_output.h"
#include "measure/step_run.h"
#include "observe/json_text.h"
#include "observe/table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using Figure = std::optional<double>;

constexpr double kNsPerMs = 1e6;

nlohmann::ordered_json figure(Figure value) {
  return value ? nlohmann::ordered_json(rounded(*value)) : nlohmann::ordered_json(nullptr);
}

Figure in_ms(Figure ns) {
  return ns ? Figure(*ns / kNsPerMs) : std::nullopt;
}

// Bytes in a nanosecond are GB in a second.
Figure gb_s(const OptimizerRow& row) {
  return measure::ratio_of(static_cast<double>(row.bytes), row.ours());
}

nlohmann::ordered_json optimizer_json(const OptimizerRow& row) {
  return {{"name", row.name},
          {"ours_ms", figure(in_ms(row.ours()))},
          {"gb_s", figure(gb_s(row))},
          {"torch_fused_ms", figure(in_ms(row.torch_fused()))},
          {"torch_unfused_ms", figure(in_ms(row.torch_unfused()))},
          {"ratio_fused", figure(measure::ratio_of(row.torch_fused(), row.ours()))},
          {"ratio_unfused", figure(measure::ratio_of(row.torch_unfused(), row.ours()))},
          {"memory_ms", figure(in_ms(row.memory()))},
          {"bandwidth_share", figure(measure::ratio_of(row.memory(), row.ours()))}};
}

std::string duration_cell(Figure ns) {
  return ns ? format_duration(std::chrono::nanoseconds(std::llround(*ns))) : "-";
}

std::string times_cell(Figure ratio) {
  return ratio ? fmt::format("{:.2f}x", *ratio) : "-";
}

}  // namespace

Figure OptimizerRow::time_of(const std::string& contender) const {
  const auto found = times.find(contender);
  return found == times.end() ? std::nullopt : Figure(found->second.p10_ns);
}

Figure OptimizerRow::ours() const {
  return time_of(kOurUpdate);
}
Figure OptimizerRow::memory() const {
  return time_of(kBareMemory);
}
Figure OptimizerRow::torch_fused() const {
  return time_of(kTorchFused);
}

Figure OptimizerRow::torch_unfused() const {
  const Figure foreach = time_of(kTorchForeach), loop = time_of(kTorchLoop);
  if (!foreach || !loop) return foreach ? foreach : loop;
  return std::min(*foreach, *loop);
}

std::string optimizers_json(const std::vector<OptimizerRow>& rows, std::uint64_t elements) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const OptimizerRow& row : rows) all.push_back(optimizer_json(row));
  return observe::json_text({{"elements", elements}, {"rows", all}});
}

std::string optimizers_table(const std::vector<OptimizerRow>& rows, const Session& session) {
  observe::Table table(
      {"optimizer", "ours", "GB/s", "of bandwidth", "torch fused", "ratio", "torch unfused", "ratio"});
  for (const OptimizerRow& row : rows) {
    const Figure share = measure::ratio_of(row.memory(), row.ours());
    const Figure rate = gb_s(row);
    table.add({{row.name},
               {duration_cell(row.ours()), observe::Colour::kBold},
               {rate ? fmt::format("{:.1f}", *rate) : "-"},
               {share ? fmt::format("{:.0f} %", 100 * *share) : "-"},
               {duration_cell(row.torch_fused())},
               {times_cell(measure::ratio_of(row.torch_fused(), row.ours()))},
               {duration_cell(row.torch_unfused())},
               {times_cell(measure::ratio_of(row.torch_unfused(), row.ours()))}});
  }
  return table.text(session.screen());
}

}  // namespace cohort::tool
