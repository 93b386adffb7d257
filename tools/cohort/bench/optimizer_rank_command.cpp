#include "bench/optimizer_work.h"
#include "commands.h"
#include "measure/contender.h"
#include "session.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string answer_with(OptimizerWork& work, const std::string& line) {
  const auto command = measure::StepCommand::decode(line);
  if (!command) return measure::Unsupported{command.error().text()}.encode();
  measure::Times times;
  for (std::uint32_t i = 0; i < command->steps; ++i) {
    work.prepare();
    measure::Interval& interval = times.intervals.emplace_back();
    interval.start_ns = steady_ns();
    work.run();
    interval.end_ns = steady_ns();
  }
  const Status checked = work.check();
  if (!checked) return measure::Failed{checked.error().text()}.encode();
  return times.encode();
}

/// `cohort bench-optimizer GROUP OPTIMIZER WORK ELEMENTS FOLDER`: a contender of `cohort bench optimizers`;
/// hidden.
class OptimizerRankCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"bench-optimizer"}; }
  std::string summary() const override { return ""; }
  void add_options(CLI::App& app) override {
    app.add_option("group", group_, "Under which it greets the controller")->required();
    app.add_option("optimizer", order_.optimizer, "The name of an optimizer")->required();
    app.add_option("work", order_.work, "update or memory")->required();
    app.add_option("elements", order_.elements, "The number of parameters")->required();
    app.add_option("folder", order_.folder, "Where the arrays are files")->required();
  }

  Result<ExitCode> run(Session& session) override {
    const auto control = session.environment.find(measure::kControlVariable);
    if (control == session.environment.end()) {
      return Error(ErrorCode::kUsage, fmt::format("{} is not set", measure::kControlVariable))
          .with_remedy("Do not start this command by hand; `cohort bench optimizers` does.");
    }
    COHORT_ASSIGN_OR_RETURN(OptimizerWork work, OptimizerWork::make(order_));
    COHORT_ASSIGN_OR_RETURN(measure::LineSocket controller, measure::connect_lines(control->second));
    COHORT_RETURN_IF_ERROR(
        measure::serve_lines(controller, {.group = group_, .rank = 0, .ranks = 1},
                             [&](const std::string& line) { return answer_with(work, line); }));
    return ExitCode::kDone;
  }

 private:
  std::string group_;
  WorkOrder order_;
};

}  // namespace

std::unique_ptr<Command> make_optimizer_rank_command() {
  return std::make_unique<OptimizerRankCommand>();
}

}  // namespace cohort::tool
