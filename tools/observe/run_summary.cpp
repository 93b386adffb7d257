#include "observe/run_summary.h"

#include "base/units.h"
#include "observe/amounts.h"
#include "observe/json_text.h"
#include "observe/table.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::observe {
namespace {

using Json = nlohmann::ordered_json;

double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::string duration_text(double seconds) {
  return format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

std::string steps_text(const RunSummary& summary) {
  std::string text = std::to_string(summary.steps);
  if (summary.skipped_steps > 0) text += fmt::format(", {} of them skipped", summary.skipped_steps);
  return text;
}

std::string masked_text(const RunSummary& summary) {
  const double share = share_of(static_cast<double>(summary.masked), static_cast<double>(summary.parameters));
  return fmt::format("{} of {} parameters, {}", summary.masked, summary.parameters, format_share(share));
}

std::string memory_text(const std::vector<MemoryPart>& memory) {
  std::string parts;
  for (const MemoryPart& part : memory) {
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", part.what, format_bytes(part.bytes));
  }
  return fmt::format("{} a rank: {}", format_bytes(total_bytes(memory)), parts);
}

// `31 iterations, 36 evaluations`
std::string work_text(const SolverReport& solver) {
  std::string text = fmt::format("{} iterations, {} evaluations", solver.iterations, solver.evaluations);
  if (solver.products > 0) text += fmt::format(", {} products", solver.products);
  return text;
}

Json solver_json(const std::optional<SolverReport>& solver) {
  if (!solver) return nullptr;
  return {{"end", solver->end ? Json(reason(*solver->end)) : Json(nullptr)},
          {"iterations", solver->iterations},
          {"evaluations", solver->evaluations},
          {"products", solver->products},
          {"largest_gradient", solver->largest_gradient}};
}

Json or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

}  // namespace

std::string_view name(RunEnd end) {
  switch (end) {
    case RunEnd::kDone:
      return "done";
    case RunEnd::kNoImprovement:
      return "no improvement";
    case RunEnd::kInterrupted:
      return "interrupted";
    case RunEnd::kSolved:
      return "solved";
  }
  return "";
}

void RunSummary::add(const StepReport& record) {
  ++steps;
  if (record.skipped) ++skipped_steps;
  epochs = std::max(epochs, record.epoch);
  samples += record.samples;
  loss = record.loss;
  loss_scale = record.loss_scale;
  step_seconds += record.seconds;
  communication_seconds += record.communication_seconds;
  stall_seconds += record.stall_seconds;
}

double RunSummary::samples_per_second() const {
  return share_of(static_cast<double>(samples), step_seconds);
}

double RunSummary::communication_share() const {
  return share_of(communication_seconds, step_seconds);
}

double RunSummary::stall_share() const {
  return share_of(stall_seconds, step_seconds);
}

std::string summary_table(const RunSummary& summary, const Screen& screen) {
  Table table({"run", std::string(name(summary.end))});
  const auto row = [&](const std::string& what, const std::string& value) {
    table.add({{what, Colour::kBold}, {value}});
  };
  row("steps", steps_text(summary));
  row("epochs", std::to_string(summary.epochs));
  if (summary.loss) row("loss", format_number(*summary.loss));
  if (summary.solver) row("solver", work_text(*summary.solver));
  if (summary.end == RunEnd::kSolved) row("ended because", std::string(reason(*summary.solver->end)));
  if (summary.loss_scale) row("loss scale", format_number(*summary.loss_scale));
  if (summary.best_loss) row("best loss", format_number(*summary.best_loss));
  for (const auto& [what, value] : summary.metrics) row(what, format_number(value));
  row("speed", fmt::format("{} samples/s on {} {}", format_amount(summary.samples_per_second()),
                           summary.ranks, summary.ranks == 1 ? "rank" : "ranks"));
  row("time", duration_text(summary.seconds));
  row("communication", format_share(summary.communication_share()) + " of the steps");
  row("waiting for data", format_share(summary.stall_share()) + " of the steps");
  if (summary.averages > 0) row("average", fmt::format("of {} updates", summary.averages));
  if (summary.masked > 0) row("held at zero", masked_text(summary));
  if (!summary.memory.empty()) row("memory", memory_text(summary.memory));
  if (!summary.parameters_hash.empty()) row("parameters", summary.parameters_hash);
  if (!summary.run_directory.empty()) row("written to", summary.run_directory);
  return table.text(screen);
}

std::string summary_json(const RunSummary& summary) {
  Json metrics = Json::object();
  for (const auto& [what, value] : summary.metrics) metrics[what] = value;
  return json_text({{"ended", name(summary.end)},
                    {"ranks", summary.ranks},
                    {"steps", summary.steps},
                    {"skipped_steps", summary.skipped_steps},
                    {"epochs", summary.epochs},
                    {"loss", or_null(summary.loss)},
                    {"loss_scale", or_null(summary.loss_scale)},
                    {"solver", solver_json(summary.solver)},
                    {"best_loss", or_null(summary.best_loss)},
                    {"metrics", metrics},
                    {"samples", summary.samples},
                    {"samples_per_second", summary.samples_per_second()},
                    {"seconds", summary.seconds},
                    {"step_seconds", summary.step_seconds},
                    {"communication_share", summary.communication_share()},
                    {"stall_share", summary.stall_share()},
                    {"averages", summary.averages},
                    {"masked", summary.masked},
                    {"memory_bytes", total_bytes(summary.memory)},
                    {"memory", memory_json(summary.memory)},
                    {"parameters_hash", summary.parameters_hash},
                    {"run_directory", summary.run_directory}});
}

}  // namespace cohort::observe
