#include "launch_options.h"

#include "launch/cores.h"
#include "machine/survey_cores.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"

#include <CLI/CLI.hpp>

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
  app.add_option("-n,--ranks", ranks_, "How many ranks; without it launch.ranks of the job")
      ->type_name("N")
      ->check(CLI::Range(1, kMostRanks));
  app.add_option("--threads", threads_,
                 "Compute threads of each rank; without it what the environment says, or an even share of "
                 "the cores")
      ->type_name("N")
      ->check(CLI::Range(1, kMostThreads));
  app.add_flag("--pin", pin_, "Pin each rank to its share of the cores");
}

int LaunchOptions::ranks(const LaunchConfig& launch) const {
  return ranks_.value_or(launch.ranks);
}

Result<JobPlan> LaunchOptions::plan(const Session& session, const LaunchConfig& launch) const {
  JobPlan plan{.ranks = ranks(launch)};
  plan.environment = session.environment;
  const auto asked = threads_ ? threads_ : launch.threads_per_rank;
  const int even_share = launch::threads_of_rank(usable_cores(), plan.ranks);
  for (const auto& [name, value] : launch::thread_variables(session.environment, asked, even_share)) {
    plan.environment[name] = value;
  }
  COHORT_ASSIGN_OR_RETURN(plan.rendezvous, launch::fresh_rendezvous());
  if (pin_) {
    COHORT_ASSIGN_OR_RETURN(plan.pinned_cores, launch::allowed_cores());
  }
  return plan;
}

}  // namespace cohort::tool
