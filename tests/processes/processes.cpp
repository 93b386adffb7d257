#include "processes/processes.h"

#include "processes/roles.h"

#include <fmt/format.h>
#include <memory>

namespace cohort::test {
namespace {

// The time that a process may need to disappear after SIGKILL on a busy machine.
constexpr std::chrono::seconds kVanishing(10);

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const auto before = text.rfind('\n', end);
  const auto start = before == std::string::npos ? 0 : before + 1;
  return text.substr(start, end + 1 - start);
}

Status verdict_on(const RankProcess& ran) {
  if (ran.status->is_success()) return {};
  const std::string said = last_line(ran.error_output);
  return Error(ErrorCode::kPeerLost,
               said.empty() ? fmt::format("its process {}", ran.status->text())
                            : fmt::format("its process {}, last saying '{}'", ran.status->text(), said));
}

Status run_rank(RankContext& rank, Process process, std::chrono::nanoseconds grace, RankProcess& ran) {
  auto ended = process.wait(TimePoint::max(), rank.stop_token());
  const bool was_stopped = !ended && ended.error().code() == ErrorCode::kAborted;
  if (was_stopped) ended = process.terminate(grace);
  COHORT_RETURN_IF_ERROR(ended);
  ran = RankProcess{*ended, process.output().text, process.error_output().text};
  if (was_stopped) return Error(ErrorCode::kAborted, "its process was ended with the world");
  return verdict_on(ran);
}

}  // namespace

ProcessesOutcome run_processes(int n, const std::string& role, const std::vector<std::string>& args,
                               const ProcessesOptions& options) {
  const auto ran = std::make_shared<std::vector<RankProcess>>(static_cast<std::size_t>(n));
  const auto body = [=](RankContext& rank) -> Status {
    Process process = spawn_role(role, {.rank = rank.rank(), .world = n, .args = args},
                                 {.extra_environment = options.environment});
    return run_rank(rank, std::move(process), options.grace, (*ran)[static_cast<std::size_t>(rank.rank())]);
  };
  ProcessesOutcome outcome{
      run_world(n, body, {.deadline = options.deadline, .grace = options.grace + kVanishing})};
  outcome.process.resize(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < outcome.process.size(); ++i) {
    if (outcome.world.own[i]) outcome.process[i] = std::move((*ran)[i]);
  }
  return outcome;
}

std::string ProcessesOutcome::text() const {
  std::string text = world.text();
  for (std::size_t i = 0; i < process.size(); ++i) {
    const auto& ran = process[i];
    text += fmt::format("process of rank {} {}\n{}{}", i, ran.status ? ran.status->text() : "did not end",
                        ran.output, ran.error_output);
  }
  return text;
}

}  // namespace cohort::test
