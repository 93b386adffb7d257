#include "launch_options.h"

#include "config/load.h"
#include "launch/variables.h"
#include "machine/survey_cores.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "supervise/cores.h"
#include "world/hosts_options.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <vector>

namespace cohort::tool {
namespace {

constexpr int kMostRanks = 65536;
constexpr int kMostThreads = 1024;

}  // namespace

int usable_cores() {
  const auto read = [](const std::string& path) {
    LocalFileSystem files;
    return read_file(files, path);
  };
  return machine::usable(machine::survey_cores(read)).value_or(1);
}

void LaunchOptions::add_to(CLI::App& app) {
  app.add_option("-n,--ranks", ranks_, "Number of ranks; by default launch.ranks of the job")
      ->type_name("N")
      ->check(CLI::Range(1, kMostRanks));
  app.add_option("--threads", threads_,
                 "Compute threads of each rank; by default OMP_NUM_THREADS, or an even share of "
                 "the cores")
      ->type_name("N")
      ->check(CLI::Range(1, kMostThreads));
  app.add_flag("--pin", pin_, "Pin each rank to its share of the cores");
}

void LaunchOptions::add_roles_to(CLI::App& app) {
  app.add_option("--servers", roles_.servers,
                 "Number of servers, besides the ranks of -n: ranks with COHORT_ROLE=server")
      ->type_name("N")
      ->check(CLI::Range(0, kMostRanks));
  app.add_option("--spares", roles_.spares,
                 "Number of spares, which wait to take the place of a lost rank: COHORT_ROLE=spare")
      ->type_name("N")
      ->check(CLI::Range(0, kMostRanks));
}

int LaunchOptions::ranks(const LaunchConfig& launch) const {
  return ranks_.value_or(launch.ranks);
}

Result<JobPlan> LaunchOptions::plan(const Session& session, const LaunchConfig& launch) const {
  JobPlan plan{.ranks = ranks(launch) + roles_.servers + roles_.spares};
  plan.roles = roles_;
  plan.environment = session.environment;
  const auto asked = threads_ ? threads_ : launch.threads_per_rank;
  const int even_share = supervise::threads_of_rank(usable_cores(), plan.ranks);
  for (const auto& [name, value] : supervise::thread_variables(session.environment, asked, even_share)) {
    plan.environment[name] = value;
  }
  COHORT_ASSIGN_OR_RETURN(plan.rendezvous, supervise::fresh_rendezvous());
  if (pin_) {
    COHORT_ASSIGN_OR_RETURN(plan.pinned_cores, supervise::allowed_cores());
  }
  return plan;
}

namespace {

// One option for each key of [communication], for precision.gradients, and for the timeouts.
std::vector<KeyOption> link_options() {
  return {
      {"--backend", "communication.backend", "BACKEND", "Transport for calls between ranks"},
      {"--algorithm", "communication.algorithm", "NAME",
       "The algorithm of collective calls between hosts; by default the one predicted to be fastest"},
      {"--wire", "precision.gradients", "TYPE", "The number format of sums on the network: f32, bf16 or f16"},
      {"--sockets", "communication.sockets", "NUMBER",
       "TCP connections between two ranks of different hosts, 1 to 8; by default the faster number"},
      {"--limit", "launch.wait_limit", "DURATION",
       "Timeout of every call of a rank that waits for live ranks"},
      {"--liveness", "launch.liveness", "DURATION",
       "A rank without a sign of life for this long counts as lost; by default 10 s"},
  };
}

// Only timeouts that the job or the command line sets: the program or the environment may set others.
EnvironmentVariables limit_variables(const config::Loaded& job) {
  LimitFacts limits;
  if (job.locations.contains("launch.wait_limit")) limits.call = job.config.launch.wait_limit;
  if (job.locations.contains("launch.liveness")) limits.liveness = job.config.launch.liveness;
  return launch::limit_variables(limits);
}

void warn_of_unknown(const EnvironmentVariables& environment) {
  for (const std::string& name : launch::unknown_variables(environment)) {
    std::cerr << "cohort: warning: nothing reads the environment variable " << name << "\n";
  }
}

Status check(const LinkSettings& settings) {
  COHORT_RETURN_IF_ERROR(world::check_links(settings));
  if (settings.backend != Backend::kMpi) return {};
  return Error(ErrorCode::kUsage,
               "the backend mpi wants ranks that an MPI has started, and this tool is none")
      .with_remedy(
          "Start them with mpirun or srun and COHORT_BACKEND=mpi: `mpirun -n 4 ./program`, or `mpirun -n 4 "
          "cohort-trainer JOB.toml`.");
}

}  // namespace

void add_link_options(CLI::App& app, JobOptions& job) {
  for (const KeyOption& option : link_options()) job.add_option_of(app, option);
}

Result<EnvironmentVariables> link_variables(const Session& session, const config::Loaded& job, Reach reach) {
  const launch::VariableReader variables(session.environment);
  COHORT_ASSIGN_OR_RETURN(const LinkSettings around, launch::read_link_settings(variables));
  const LinkSettings settings = config::links_of(job, around);
  COHORT_RETURN_IF_ERROR(check(settings));
  if (settings.backend == Backend::kUcx && reach == Reach::kHosts) {
    std::cerr << "cohort: warning: between hosts everything is sent in the clear (the backend ucx encrypts "
                 "nothing)\n";
  }
  EnvironmentVariables all = launch::link_variables(settings);
  all.merge(limit_variables(job));
  warn_of_unknown(session.environment);
  return all;
}

}  // namespace cohort::tool
