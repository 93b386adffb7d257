#include "base/units.h"
#include "commands.h"
#include "host_options.h"
#include "job_options.h"
#include "launch_options.h"
#include "run_job.h"
#include "supervise/rank_output.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

namespace cohort::tool {
namespace {

using supervise::RankOutput;
using supervise::Writer;

PrefixColours colours(bool is_terminal) {
  return is_terminal ? PrefixColours::kShown : PrefixColours::kHidden;
}

Result<std::chrono::nanoseconds> duration_option(const std::string& option, const std::string& text) {
  COHORT_ASSIGN_OR_RETURN(const auto duration, parse_duration(text).within(option));
  if (duration < std::chrono::nanoseconds(0)) {
    return Error(ErrorCode::kUsage, fmt::format("{} {} is negative", option, text));
  }
  return duration;
}

// A program that cannot be executed counts as a mistake in the command.
Error as_mistake(const Error& error, const std::string& program) {
  const ErrorCode code = error.code();
  const bool is_mistake =
      code == ErrorCode::kNotFound || code == ErrorCode::kPermission || code == ErrorCode::kUnsupported;
  if (!is_mistake) return error;
  return Error(ErrorCode::kUsage, fmt::format("cannot start '{}': {}", program, error.root().message()))
      .with_remedy(error.remedy());
}

/// `cohort run -n N ./program args…`: runs the ranks of a job, on this host or on several.
class RunCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"run"}; }
  std::string summary() const override {
    return "Run a program as several ranks, on this machine or on several hosts";
  }
  std::vector<std::string>* program_words() override { return &program_; }
  std::vector<std::string> candidates(const std::string& option) const override {
    if (option == "--on-rank-loss") return {"end", "tell"};
    return job_.candidates(option);
  }

  void add_options(CLI::App& app) override {
    app.add_option("program", program_, "The program to run; everything after it is passed to it")
        ->type_name("PROGRAM [ARGUMENT...]");
    launch_.add_to(app);
    launch_.add_roles_to(app);
    hosts_.add_to(app);
    add_link_options(app, job_);
    app.add_option("--output-dir", folder_,
                   "Write output to DIR/rank-0.out, DIR/rank-0.err, … instead of the terminal")
        ->type_name("DIR");
    app.add_flag("--no-prefix", no_prefix_, "Do not put the rank before each line of output");
    app.add_option(
           "--on-rank-loss", rank_loss_,
           "What happens when a rank fails: end, all other ranks are ended; tell, they go on and learn "
           "of it by Context::survivors()")
        ->type_name("end|tell")
        ->check(CLI::IsMember({"end", "tell"}))
        ->capture_default_str();
    app.add_option("--grace", grace_, "Time between the signal to end and SIGKILL")
        ->type_name("DURATION")
        ->capture_default_str();
    app.add_option("--timeout", timeout_, "End the job after this time")->type_name("DURATION");
    job_.add_to(app, JobOptions::File::kNamed);
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(JobPlan plan, plan_of(session));
    if (hosts_.is_used()) return run_on_hosts(session, plan);
    COHORT_ASSIGN_OR_RETURN(const auto output, make_output(session, plan.ranks));
    const Result<ExitCode> ended = run_job(std::move(plan), *output);
    if (!ended) return as_mistake(ended.error(), program_.front());
    return *ended;
  }

 private:
  Result<ExitCode> run_on_hosts(const Session& session, const JobPlan& plan) const {
    COHORT_ASSIGN_OR_RETURN(HostedJob hosted, hosts_.plan(session, plan));
    COHORT_ASSIGN_OR_RETURN(const auto output, make_output(session, hosted.plan.common.world));
    return run_job(std::move(hosted), *output);
  }

  Result<JobPlan> plan_of(const Session& session) const {
    if (program_.empty()) {
      return Error(ErrorCode::kUsage, "no program to run was given")
          .with_remedy("Give it after the options, as in `cohort run -n 2 ./program`.");
    }
    COHORT_ASSIGN_OR_RETURN(const config::Loaded job, job_.load());
    COHORT_ASSIGN_OR_RETURN(JobPlan plan, launch_.plan(session, job.config.launch));
    const Reach reach = hosts_.is_used() ? Reach::kHosts : Reach::kOneHost;
    COHORT_ASSIGN_OR_RETURN(plan.settings, link_variables(session, job, reach));
    plan.argv = program_;
    plan.rank_loss = rank_loss_ == "tell" ? RankLoss::kTell : RankLoss::kEnd;
    COHORT_ASSIGN_OR_RETURN(plan.grace, duration_option("--grace", grace_));
    if (timeout_) {
      COHORT_ASSIGN_OR_RETURN(plan.limit, duration_option("--timeout", *timeout_));
    }
    return plan;
  }

  Result<std::unique_ptr<RankOutput>> make_output(const Session& session, int ranks) const {
    if (folder_) return supervise::make_file_output(*folder_, ranks);
    COHORT_ASSIGN_OR_RETURN(Writer output, Writer::make(STDOUT_FILENO, "standard output"));
    COHORT_ASSIGN_OR_RETURN(Writer error_output, Writer::make(STDERR_FILENO, "standard error"));
    supervise::SharedOutputOptions options;
    if (!no_prefix_) {
      options.output_prefixes = rank_prefixes(ranks, colours(session.out_is_terminal));
      options.error_output_prefixes = rank_prefixes(ranks, colours(session.err_is_terminal));
    }
    return supervise::make_shared_output(std::move(output), std::move(error_output), options);
  }

  JobOptions job_;
  std::vector<std::string> program_;
  LaunchOptions launch_;
  HostOptions hosts_;
  std::optional<std::string> folder_;
  bool no_prefix_ = false;
  std::string rank_loss_ = "end";
  std::string grace_ = "5s";
  std::optional<std::string> timeout_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() {
  return std::make_unique<RunCommand>();
}

}  // namespace cohort::tool
