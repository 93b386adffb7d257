#include "commands.h"
#include "host_options.h"
#include "job_options.h"
#include "launch_options.h"
#include "run_job.h"
#include "supervise/rank_output.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <unistd.h>

namespace cohort::tool {
namespace {

using namespace std::chrono_literals;

// Between the signal to end and SIGKILL a rank finishes its step and writes its model, and a snapshot if
// there are any. A second signal ends the job at once.
constexpr std::chrono::seconds kGrace = 30s, kGraceToSave = 1h;

Error cannot_start(const Error& error, const std::string& program) {
  return Error(error.code(),
               fmt::format("cannot start the trainer '{}': {}", program, error.root().message()))
      .with_remedy(kTrainerRemedy);
}

// With more threads than cores a waiting thread must not occupy a core.
void make_waiting_passive(JobPlan& plan, int ranks) {
  const auto threads = plan.environment.find("OMP_NUM_THREADS");
  const int per_rank = threads == plan.environment.end() ? 1 : std::atoi(threads->second.c_str());
  if (static_cast<std::int64_t>(ranks) * per_rank + 1 > usable_cores()) {
    plan.environment.emplace("OMP_WAIT_POLICY", "PASSIVE");
  }
}

/// `cohort train JOB.toml`: trains without user code. Each rank is the program cohort-trainer, which loads
/// libtorch; the tool does not.
class TrainCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"train"}; }
  std::string summary() const override { return "Train a model from a job file, with several ranks"; }
  std::vector<std::string> candidates(const std::string& option) const override {
    return job_.candidates(option);
  }

  void add_options(CLI::App& app) override {
    job_.add_to(app, JobOptions::File::kRequired);
    launch_.add_to(app);
    hosts_.add_to(app);
    add_link_options(app, job_);
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
    COHORT_ASSIGN_OR_RETURN(const config::Loaded job, job_.load());
    log_format_ = job.config.log.format;
    COHORT_ASSIGN_OR_RETURN(JobPlan plan, launch_.plan(session, job.config.launch));
    const Reach reach = hosts_.is_used() ? Reach::kHosts : Reach::kOneHost;
    COHORT_ASSIGN_OR_RETURN(plan.settings, link_variables(session, job, reach));
    std::vector<int> host_ranks = {plan.ranks};
    if (hosts_.is_used()) {
      COHORT_ASSIGN_OR_RETURN(host_ranks, hosts_.host_ranks());
    }
    const int world = std::accumulate(host_ranks.begin(), host_ranks.end(), 0);
    const std::string program = trainer_program(session);
    plan.argv = arguments(session, program);
    if (dry_run_) {
      plan.argv.insert(plan.argv.end(), {"--dry-run", "--world", std::to_string(world), "--host-ranks",
                                         fmt::format("{}", fmt::join(host_ranks, ","))});
    }
    plan.grace = job.config.checkpoint.every ? kGraceToSave : kGrace;
    make_waiting_passive(plan, world);
    if (hosts_.is_used() && !dry_run_) return train_on_hosts(session, plan);
    if (dry_run_) plan.ranks = 1;
    COHORT_ASSIGN_OR_RETURN(const auto output, make_output(session, plan.ranks));
    const Result<ExitCode> ended = run_job(std::move(plan), *output);
    if (!ended) return cannot_start(ended.error(), program);
    return *ended;
  }

 private:
  // Trainer, job file and data must have the same paths on every host as here.
  Result<ExitCode> train_on_hosts(const Session& session, const JobPlan& plan) const {
    COHORT_ASSIGN_OR_RETURN(HostedJob hosted, hosts_.plan(session, plan));
    const auto passive = plan.environment.find("OMP_WAIT_POLICY");
    if (passive != plan.environment.end()) hosted.plan.common.environment.insert(*passive);
    COHORT_ASSIGN_OR_RETURN(const auto output, make_output(session, hosted.plan.common.world));
    return run_job(std::move(hosted), *output);
  }

  std::vector<std::string> arguments(const Session& session, const std::string& program) const {
    std::vector<std::string> words{program, job_.file()};
    for (const std::string& assignment : job_.overrides()) {
      words.insert(words.end(), {"--set", assignment});
    }
    if (!resume_.empty()) words.push_back("--resume=" + resume_);
    if (json_) words.emplace_back("--json");
    if (verbose_) words.emplace_back("-v");
    if (const auto columns = progress_columns(session)) {
      words.insert(words.end(), {"--terminal", std::to_string(*columns)});
    }
    return words;
  }

  // The columns of the terminal that shows the progress.
  std::optional<int> progress_columns(const Session& session) const {
    return json_ ? session.err_columns : session.out_columns;
  }

  // Rank 0 writes for all ranks; lines of other ranks get their number as prefix.
  Result<std::unique_ptr<supervise::RankOutput>> make_output(const Session& session, int ranks) const {
    COHORT_ASSIGN_OR_RETURN(auto output, supervise::Writer::make(STDOUT_FILENO, "standard output"));
    COHORT_ASSIGN_OR_RETURN(auto error_output, supervise::Writer::make(STDERR_FILENO, "standard error"));
    supervise::SharedOutputOptions options;
    options.output_prefixes = prefixes(ranks, session.out_is_terminal);
    // A line of JSON names its rank itself, and with a prefix it would not be JSON.
    if (log_format_ == LogFormat::kText) {
      options.error_output_prefixes = prefixes(ranks, session.err_is_terminal);
    } else {
      options.error_output_prefixes.resize(static_cast<std::size_t>(ranks));
    }
    if (progress_columns(session)) options.live_rank = 0;
    return supervise::make_shared_output(std::move(output), std::move(error_output), options);
  }

  static std::vector<std::string> prefixes(int ranks, bool is_terminal) {
    auto texts = rank_prefixes(ranks, is_terminal ? PrefixColours::kShown : PrefixColours::kHidden);
    texts.front().clear();
    return texts;
  }

  JobOptions job_;
  LaunchOptions launch_;
  HostOptions hosts_;
  LogFormat log_format_ = LogFormat::kText;
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
