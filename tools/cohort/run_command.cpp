#include "base/units.h"
#include "commands.h"
#include "job_options.h"
#include "launch/cores.h"
#include "launch/file_output.h"
#include "launch/shared_output.h"
#include "launch/supervisor.h"
#include "machine/survey_cores.h"
#include "signal_watch.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

namespace cohort::tool {
namespace {

using launch::RankOutput;
using launch::Writer;

constexpr int kMostRanks = 65536;
constexpr int kMostThreads = 1024;

int usable_cores() {
  const auto read = [](const std::string& path) {
    LocalFileSystem files;
    return read_file(files, path);
  };
  return machine::usable(machine::survey_cores(read)).value_or(1);
}

// `[3] ` in front of every line of rank 3, in a colour of its own on a terminal.
std::vector<std::string> prefixes(int ranks, bool is_terminal) {
  static constexpr std::array kColours{36, 33, 32, 35, 34, 31};
  std::vector<std::string> texts;
  for (int rank = 0; rank < ranks; ++rank) {
    const int colour = kColours[static_cast<std::size_t>(rank) % kColours.size()];
    texts.push_back(is_terminal ? fmt::format("\033[{}m[{}]\033[0m ", colour, rank)
                                : fmt::format("[{}] ", rank));
  }
  return texts;
}

Result<std::chrono::nanoseconds> duration_option(const std::string& option, const std::string& text) {
  COHORT_ASSIGN_OR_RETURN(const auto duration, parse_duration(text).within(option));
  if (duration < std::chrono::nanoseconds(0)) {
    return Error(ErrorCode::kUsage, fmt::format("{} {} is negative", option, text));
  }
  return duration;
}

// A program that cannot be executed is a mistake in the command.
Error as_mistake(const Error& error, const std::string& program) {
  const ErrorCode code = error.code();
  const bool is_mistake =
      code == ErrorCode::kNotFound || code == ErrorCode::kPermission || code == ErrorCode::kUnsupported;
  if (!is_mistake) return error;
  return Error(ErrorCode::kUsage, fmt::format("cannot start '{}': {}", program, error.root().message()))
      .with_remedy(error.remedy());
}

/// `cohort run -n N ./program args…`: the ranks of a job on this host.
class RunCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"run"}; }
  std::string summary() const override { return "Run a program as several ranks on this machine"; }
  std::vector<std::string>* program_words() override { return &program_; }
  std::vector<std::string> candidates(const std::string& option) const override {
    return job_.candidates(option);
  }

  void add_options(CLI::App& app) override {
    app.add_option("program", program_, "What to run; all that follows it is passed on, options too")
        ->type_name("PROGRAM [ARGUMENT...]");
    app.add_option("-n,--ranks", ranks_, "How many ranks; without it launch.ranks of the job")
        ->type_name("N")
        ->check(CLI::Range(1, kMostRanks));
    app.add_option("--threads", threads_,
                   "Compute threads of each rank; without it what the environment says, or an even share of "
                   "the cores")
        ->type_name("N")
        ->check(CLI::Range(1, kMostThreads));
    app.add_flag("--pin", pin_, "Pin each rank to its share of the cores");
    app.add_option("--output-dir", folder_,
                   "Write DIR/rank-0.out, DIR/rank-0.err, … instead of to the terminal")
        ->type_name("DIR");
    app.add_flag("--no-prefix", no_prefix_, "Pass output on as it is, without the rank before each line");
    app.add_option("--grace", grace_, "How long ranks that are told to end may take before they are killed")
        ->type_name("DURATION")
        ->capture_default_str();
    app.add_option("--timeout", timeout_, "End the job after this time")->type_name("DURATION");
    job_.add_to(app, JobOptions::File::kNamed);
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(JobPlan plan, plan_of(session));
    COHORT_ASSIGN_OR_RETURN(const auto output, make_output(session, plan.ranks));
    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes ends the job in order
    Supervisor supervisor(std::move(plan), *output);
    COHORT_ASSIGN_OR_RETURN(const auto watch,
                            SignalWatch::start([&](int signal) { supervisor.interrupt(signal); }));
    const Result<JobOutcome> outcome = supervisor.run();
    if (!outcome) return as_mistake(outcome.error(), program_.front());
    std::cerr << outcome->summary() << std::flush;
    // Whoever hangs in the operating system would be waited for by the destructor.
    if (!outcome->is_over()) std::_Exit(outcome->exit_code());
    return static_cast<ExitCode>(outcome->exit_code());
  }

 private:
  Result<JobPlan> plan_of(const Session& session) const {
    if (program_.empty()) {
      return Error(ErrorCode::kUsage, "no program to run was named")
          .with_remedy("Name one after the options, as in `cohort run -n 2 ./program`.");
    }
    COHORT_ASSIGN_OR_RETURN(const config::Loaded job, job_.load());
    JobPlan plan{.argv = program_, .ranks = ranks_.value_or(job.config.launch.ranks)};
    plan.environment = session.environment;
    const auto asked = threads_ ? threads_ : job.config.launch.threads_per_rank;
    const int even_share = launch::threads_of_rank(usable_cores(), plan.ranks);
    for (const auto& [name, value] : launch::thread_variables(session.environment, asked, even_share)) {
      plan.environment[name] = value;
    }
    COHORT_ASSIGN_OR_RETURN(plan.rendezvous, launch::fresh_rendezvous());
    if (pin_) {
      COHORT_ASSIGN_OR_RETURN(plan.pinned_cores, launch::allowed_cores());
    }
    COHORT_ASSIGN_OR_RETURN(plan.grace, duration_option("--grace", grace_));
    if (timeout_) {
      COHORT_ASSIGN_OR_RETURN(plan.limit, duration_option("--timeout", *timeout_));
    }
    return plan;
  }

  Result<std::unique_ptr<RankOutput>> make_output(const Session& session, int ranks) const {
    if (folder_) return launch::make_file_output(*folder_, ranks);
    COHORT_ASSIGN_OR_RETURN(Writer output, Writer::make(STDOUT_FILENO, "standard output"));
    COHORT_ASSIGN_OR_RETURN(Writer error_output, Writer::make(STDERR_FILENO, "standard error"));
    launch::SharedOutputOptions options;
    if (!no_prefix_) {
      options.output_prefixes = prefixes(ranks, session.out_is_terminal);
      options.error_output_prefixes = prefixes(ranks, session.err_is_terminal);
    }
    return launch::make_shared_output(std::move(output), std::move(error_output), options);
  }

  JobOptions job_;
  std::vector<std::string> program_;
  std::optional<int> ranks_;
  std::optional<int> threads_;
  bool pin_ = false;
  std::optional<std::string> folder_;
  bool no_prefix_ = false;
  std::string grace_ = "5s";
  std::optional<std::string> timeout_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() {
  return std::make_unique<RunCommand>();
}

}  // namespace cohort::tool
