#include "trainer_ranks.h"

#include "run_job.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
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

std::vector<std::string> prefixes_of_others(int ranks, bool is_terminal) {
  auto texts = rank_prefixes(ranks, is_terminal ? PrefixColours::kShown : PrefixColours::kHidden);
  texts.front().clear();
  return texts;
}

Result<std::unique_ptr<supervise::RankOutput>> make_output(const Session& session,
                                                           const TrainerRanks::Start& start, int ranks) {
  COHORT_ASSIGN_OR_RETURN(auto output, supervise::Writer::make(STDOUT_FILENO, "standard output"));
  COHORT_ASSIGN_OR_RETURN(auto error_output, supervise::Writer::make(STDERR_FILENO, "standard error"));
  supervise::SharedOutputOptions options;
  options.output_prefixes = prefixes_of_others(ranks, session.out_is_terminal);
  // A line of JSON names its rank itself, and with a prefix it would not be JSON.
  if (start.log_format == LogFormat::kText) {
    options.error_output_prefixes = prefixes_of_others(ranks, session.err_is_terminal);
  } else {
    options.error_output_prefixes.resize(static_cast<std::size_t>(ranks));
  }
  if (start.has_live_line) options.live_rank = 0;
  return supervise::make_shared_output(std::move(output), std::move(error_output), options);
}

}  // namespace

void TrainerRanks::add_to(CLI::App& app) {
  job_.add_to(app, JobOptions::File::kRequired);
  launch_.add_to(app);
  hosts_.add_to(app);
  add_link_options(app, job_);
}

Result<TrainerRanks::Start> TrainerRanks::prepare(Session& session) {
  COHORT_ASSIGN_OR_RETURN(const config::Loaded job, job_.load());
  Start start{.log_format = job.config.log.format, .is_on_hosts = hosts_.is_used()};
  COHORT_ASSIGN_OR_RETURN(start.plan, launch_.plan(session, job.config.launch));
  const Reach reach = hosts_.is_used() ? Reach::kHosts : Reach::kOneHost;
  COHORT_ASSIGN_OR_RETURN(start.plan.settings, link_variables(session, job, reach));
  start.host_ranks = {start.plan.ranks};
  if (hosts_.is_used()) {
    COHORT_ASSIGN_OR_RETURN(start.host_ranks, hosts_.host_ranks());
  }
  start.plan.argv = {trainer_program(session), job_.file()};
  for (const std::string& assignment : job_.overrides()) {
    start.plan.argv.insert(start.plan.argv.end(), {"--set", assignment});
  }
  start.plan.grace = job.config.checkpoint.every ? kGraceToSave : kGrace;
  make_waiting_passive(start.plan, std::accumulate(start.host_ranks.begin(), start.host_ranks.end(), 0));
  return start;
}

Result<ExitCode> TrainerRanks::run(const Session& session, Start start) const {
  if (start.is_on_hosts) return run_on_hosts(session, start);
  const std::string program = start.plan.argv.front();
  COHORT_ASSIGN_OR_RETURN(const auto output, make_output(session, start, start.plan.ranks));
  const Result<ExitCode> ended = run_job(std::move(start.plan), *output);
  if (!ended) return cannot_start(ended.error(), program);
  return *ended;
}

// Trainer, job file and data must have the same paths on every host as here.
Result<ExitCode> TrainerRanks::run_on_hosts(const Session& session, const Start& start) const {
  COHORT_ASSIGN_OR_RETURN(HostedJob hosted, hosts_.plan(session, start.plan));
  const auto passive = start.plan.environment.find("OMP_WAIT_POLICY");
  if (passive != start.plan.environment.end()) hosted.plan.common.environment.insert(*passive);
  COHORT_ASSIGN_OR_RETURN(const auto output, make_output(session, start, hosted.plan.common.world));
  return run_job(std::move(hosted), *output);
}

}  // namespace cohort::tool
