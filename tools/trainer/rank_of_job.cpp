#include "rank_of_job.h"

#include "base/error_codes.h"
#include "comm/group/communicator.h"
#include "launch/environment.h"
#include "launch/variables.h"
#include "stop_signal.h"
#include "train/settings.h"

#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <c10/util/Exception.h>
#include <exception>
#include <unistd.h>
#include <vector>

namespace cohort::tool {
namespace {

// The number that the launcher has set. A job whose bits must not depend on the number of ranks gets one
// thread unless it asks for more, since more threads sum in another order.
int threads_of(const Config& config) {
  const bool any_world = config.train.deterministic == "any-world";
  return any_world ? config.launch.threads_per_rank.value_or(1) : at::get_num_threads();
}

// Settings that the job does not have come from the environment.
ContextOptions context_options(const config::Loaded& job, LogSink& sink) {
  const LaunchConfig& launch = job.config.launch;
  ContextOptions options{.log = &sink, .log_level = job.config.log.level};
  const auto around = value_or_throw(launch::read_limits(launch::VariableReader(own_environment())));
  if (job.locations.contains("launch.wait_limit") || !around.call) options.limit = launch.wait_limit;
  if (job.locations.contains("launch.liveness")) options.liveness = launch.liveness;
  options.links = config::links_of(job, {});
  options.arena_bytes = std::max<std::size_t>(options.arena_bytes, launch.shared_memory_per_rank);
  return options;
}

// Launchers of Cohort pass over a rank that exits with kFollowedExitCode. Other launchers report the code of
// the rank that ends first: there this rank exits as the failed one does.
FailedElsewhere failed_elsewhere(int rank, int exit_code) {
  const LaunchFacts facts = value_or_throw(launch_facts(own_environment()));
  return {.rank = rank, .exit_code = facts.launcher == Launcher::kCohort ? kFollowedExitCode : exit_code};
}

int exit_code_of_exception(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return cohort::exit_code_of(error.code());
  } catch (const c10::Error&) {
    return cohort::exit_code_of(ErrorCode::kIo);
  } catch (...) {
    return cohort::exit_code_of(ErrorCode::kBug);
  }
}

// One rank reports each failure. A rank that another rank aborted leaves the report to that rank. All ranks
// know of a divergence: the rank with the loss reports it, or rank 0. A lost or late peer cannot report
// itself: rank 0 does, or rank 1 if the peer is rank 0.
void leave_the_report_to_others(const Context& context, const Error& error) {
  const FailedElsewhere elsewhere =
      failed_elsewhere(error.rank().value_or(0), cohort::exit_code_of(error.code()));
  if (error.root().code() == ErrorCode::kAborted) throw elsewhere;
  if (error.code() == ErrorCode::kDiverged && elsewhere.rank != context.rank()) throw elsewhere;
  const bool about_a_peer = error.code() == ErrorCode::kPeerLost || error.code() == ErrorCode::kTimedOut;
  const int reporter = error.rank() == 0 ? 1 : 0;
  if (about_a_peer && context.rank() != reporter) throw elsewhere;
}

// The time at which training must stop: by its own limit, or a minute before Slurm ends the job.
std::optional<std::chrono::system_clock::time_point> deadline_of(const TrainConfig& train) {
  using Clock = std::chrono::system_clock;
  std::optional<Clock::time_point> deadline;
  if (train.time_limit)
    deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(*train.time_limit);
  const EnvironmentVariables variables = own_environment();
  const auto end = value_or_throw(launch::end_of_job(launch::VariableReader(variables)));
  if (end && (!deadline || *end - std::chrono::minutes(1) < *deadline)) {
    deadline = *end - std::chrono::minutes(1);
  }
  return deadline;
}

// Before anything else, so that no signal is lost.
config::Loaded load_with_signals(const JobOrder& order) {
  StopSignal::install();
  return load_job(order);
}

}  // namespace

RankOfJob::RankOfJob(const JobOrder& order)
    : loaded_(load_with_signals(order)),
      settings_(train::settle_in(threads_of(loaded_.config))),
      sink_(STDERR_FILENO, loaded_.config.log.format),
      context_(context_options(loaded_, sink_)),
      log_(sink_, clock_, {.level = loaded_.config.log.level, .rank = context_.rank()}) {
  log_.debug("joined {} ranks: {}", context_.size(), context_.communicator().traits().kind);
}

bool RankOfJob::wants_to_stop() const {
  return StopSignal::is_raised() || (deadline_ && std::chrono::system_clock::now() >= *deadline_);
}

void RankOfJob::on_all_ranks(const std::function<void()>& prepare) {
  std::exception_ptr mine;
  try {
    prepare();
  } catch (...) {
    mine = std::current_exception();
  }
  std::vector<std::uint8_t> exit_codes(static_cast<std::size_t>(context_.size()));
  const std::array own{static_cast<std::uint8_t>(mine ? exit_code_of_exception(mine) : 0)};
  // Reading data may take one rank longer than a call may take: ranks wait for it as long as it is alive.
  value_or_throw(context_.communicator().run(
      all_gather(std::span<const std::uint8_t>(own), std::span(exit_codes)).within(std::chrono::hours(24))));
  const auto failed = std::find_if(exit_codes.begin(), exit_codes.end(), [](auto code) { return code != 0; });
  if (failed == exit_codes.end()) {
    deadline_ = deadline_of(loaded_.config.train);
    return;
  }
  const auto first = static_cast<int>(failed - exit_codes.begin());
  if (first == context_.rank()) std::rethrow_exception(mine);
  throw failed_elsewhere(first, *failed);
}

int RankOfJob::run(const std::function<int()>& work) {
  try {
    return work();
  } catch (const Error& error) {
    leave_the_report_to_others(context_, error);
    throw;
  }
}

}  // namespace cohort::tool
