#include "commands.h"
#include "trainer_ranks.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

/// `cohort lr-range JOB.toml`: a learning-rate range test, made by the ranks of the job.
class LrRangeCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"lr-range"}; }
  std::string summary() const override { return "Find a learning rate for a job: train with one that grows"; }
  std::vector<std::string> candidates(const std::string& option) const override {
    return ranks_.candidates(option);
  }

  void add_options(CLI::App& app) override {
    ranks_.add_to(app);
    app.add_option("--from", from_, "The learning rate of the first step")->capture_default_str();
    app.add_option("--to", to_, "The learning rate of the last step; the loss may diverge before")
        ->capture_default_str();
    app.add_option("--steps", steps_, "The number of steps")->capture_default_str();
    app.add_option("--plot", plot_, "Write a plot of the loss over the learning rate to this file (SVG)")
        ->type_name("FILE");
    app.add_flag("--json", json_, "One JSON object instead of table and chart");
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_RETURN_IF_ERROR(check());
    COHORT_ASSIGN_OR_RETURN(TrainerRanks::Start start, ranks_.prepare(session));
    std::vector<std::string>& words = start.plan.argv;
    words.insert(words.end(), {"--lr-range", std::to_string(steps_), "--from", fmt::format("{}", from_),
                               "--to", fmt::format("{}", to_)});
    if (!plot_.empty()) words.push_back("--plot=" + plot_);
    if (json_) words.emplace_back("--json");
    const std::optional<int> columns = json_ ? session.err_columns : session.out_columns;
    if (columns) words.insert(words.end(), {"--terminal", std::to_string(*columns)});
    start.has_live_line = columns.has_value();
    return ranks_.run(session, std::move(start));
  }

 private:
  Status check() const {
    if (!(from_ > 0 && to_ > from_ && to_ <= 1e6)) {
      return Error(ErrorCode::kUsage,
                   fmt::format("--from {} and --to {}: expected a learning rate above 0, and a "
                               "higher one of at most 1e6",
                               from_, to_));
    }
    if (steps_ < 3 || steps_ > 1'000'000) {
      return Error(ErrorCode::kUsage, fmt::format("--steps {}: it lies between 3 and 1000000", steps_));
    }
    return {};
  }

  TrainerRanks ranks_;
  double from_ = 1e-7;
  double to_ = 10;
  int steps_ = 100;
  std::string plot_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lr_range_command() {
  return std::make_unique<LrRangeCommand>();
}

}  // namespace cohort::tool
