#include "commands.h"
#include "trainer_ranks.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace cohort::tool {
namespace {

/// `cohort train JOB.toml`: trains without user code.
class TrainCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"train"}; }
  std::string summary() const override { return "Train a model from a job file, with several ranks"; }
  std::vector<std::string> candidates(const std::string& option) const override {
    return ranks_.candidates(option);
  }

  void add_options(CLI::App& app) override {
    ranks_.add_to(app);
    app.add_flag("--dry-run", dry_run_,
                 "Print the plan (micro-batches, buckets, programs, bytes, memory) and train nothing");
    app.add_flag("--resume{newest}", resume_,
                 "--resume=PATH: go on from a snapshot, or from the newest whole one of a folder; --resume: "
                 "from the "
                 "newest of the run, or begin anew if it has none")
        ->type_name("PATH");
    app.add_flag("--json", json_, "One JSON object at the end; progress goes to standard error");
    app.add_flag("-v,--verbose", verbose_, "Print more: the setup of each rank");
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(TrainerRanks::Start start, ranks_.prepare(session));
    const std::optional<int> columns = json_ ? session.err_columns : session.out_columns;
    start.has_live_line = columns.has_value();
    add_words(start.plan.argv, columns);
    if (dry_run_) plan_only(start);
    return ranks_.run(session, std::move(start));
  }

 private:
  void add_words(std::vector<std::string>& words, const std::optional<int>& columns) const {
    if (!resume_.empty()) words.push_back("--resume=" + resume_);
    if (json_) words.emplace_back("--json");
    if (verbose_) words.emplace_back("-v");
    if (columns) words.insert(words.end(), {"--terminal", std::to_string(*columns)});
  }

  // One process makes the plan of all ranks.
  static void plan_only(TrainerRanks::Start& start) {
    const int world = std::accumulate(start.host_ranks.begin(), start.host_ranks.end(), 0);
    start.plan.argv.insert(start.plan.argv.end(),
                           {"--dry-run", "--world", std::to_string(world), "--host-ranks",
                            fmt::format("{}", fmt::join(start.host_ranks, ","))});
    start.plan.ranks = 1;
    start.is_on_hosts = false;
  }

  TrainerRanks ranks_;
  std::string resume_;
  bool dry_run_ = false;
  bool json_ = false;
  bool verbose_ = false;
};

}  // namespace

std::unique_ptr<Command> make_train_command() {
  return std::make_unique<TrainCommand>();
}

}  // namespace cohort::tool
