#include "link_options.h"

#include "config/links_said.h"
#include "launch/link_variables.h"
#include "world/check_links.h"

#include <iostream>
#include <vector>

namespace cohort::tool {
namespace {

// One for each key of [communication].
std::vector<KeyOption> link_options() {
  return {
      {"--engine", "communication.engine", "ENGINE", "What carries calls between ranks"},
      {"--algorithm", "communication.algorithm", "NAME",
       "The algorithm of every call between hosts that it serves; without it the fastest by prediction"},
      {"--wire", "communication.wire", "TYPE", "What sums travel as between hosts: same, bf16 or f16"},
      {"--sockets", "communication.sockets", "NUMBER",
       "TCP connections between two ranks of different hosts, 1 to 8; without it what is faster"},
  };
}

Status check(const LinkSettings& settings) {
  COHORT_RETURN_IF_ERROR(world::check_links(settings));
  if (settings.engine != Engine::kMpi) return {};
  return Error(ErrorCode::kUsage, "the engine mpi wants ranks that an MPI has started, and this tool is none")
      .with_remedy(
          "Start them with mpirun or srun and COHORT_ENGINE=mpi: `mpirun -n 4 ./program`, or `mpirun -n 4 "
          "cohort-trainer JOB.toml`.");
}

}  // namespace

void add_link_options(CLI::App& app, JobOptions& job) {
  for (const KeyOption& option : link_options()) job.add_option_of(app, option);
}

Result<EnvironmentVariables> link_variables(const Session& session, const config::Loaded& job, Reach reach) {
  const launch::VariableReader variables(session.environment);
  COHORT_ASSIGN_OR_RETURN(const LinkSettings around, launch::read_link_settings(variables));
  const LinkSettings settings = config::links_said(job).over(around);
  COHORT_RETURN_IF_ERROR(check(settings));
  if (settings.engine == Engine::kUcx && reach == Reach::kHosts) {
    std::cerr << "cohort: warning: between hosts everything is sent in the clear (the engine ucx encrypts "
                 "nothing)\n";
  }
  return launch::link_variables(settings);
}

}  // namespace cohort::tool
