#include "measure/controller.h"

#include "base/check.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::measure {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookAfterProcesses = 50ms;
constexpr auto kGreetingLimit = 10s;

std::string member(const std::string& group, int rank) {
  return fmt::format("rank {} of '{}'", rank, group);
}

std::string what(const RunCommand& command) {
  return fmt::format("{} of {} f32 ({})", name(command.operation), command.elements, command.kind);
}

std::string what(const StepCommand& command) {
  return fmt::format("{} step{}", command.steps, command.steps == 1 ? "" : "s");
}

std::string what(const StateCommand& command) {
  return fmt::format("{} of state {}", command.work, command.salt);
}

std::vector<double> longest_of(const std::vector<Times>& ranks, std::size_t samples) {
  std::vector<double> longest;
  for (std::size_t i = 0; i < samples; ++i) {
    std::int64_t longest_ns = 0;
    for (const Times& rank : ranks) {
      const Interval& own = rank.intervals.at(i);
      longest_ns = std::max(longest_ns, own.end_ns - own.start_ns);
    }
    longest.push_back(static_cast<double>(longest_ns));
  }
  return longest;
}

// An answer other than `times` is the failure that it reports.
Result<Times> times_in(const std::string& line, std::size_t samples) {
  COHORT_ASSIGN_OR_RETURN(const Answer answer, decode_answer(line));
  if (const auto* failed = std::get_if<Failed>(&answer)) return Error(ErrorCode::kCorrupt, failed->reason);
  if (const auto* missing = std::get_if<Unsupported>(&answer)) {
    return Error(ErrorCode::kUnsupported, missing->reason);
  }
  const auto& times = std::get<Times>(answer);
  if (times.intervals.size() == samples) return times;
  return Error(ErrorCode::kCorrupt,
               fmt::format("the answer has {} samples, expected {}", times.intervals.size(), samples));
}

}  // namespace

Result<Controller> Controller::open() {
  COHORT_ASSIGN_OR_RETURN(LineListener listener, LineListener::open());
  return Controller(std::move(listener));
}

Status Controller::greet(LineSocket socket, TimePoint deadline) {
  COHORT_ASSIGN_OR_RETURN(const std::string line,
                          socket.read_line(deadline).within("no greeting from a participant"));
  COHORT_ASSIGN_OR_RETURN(const Hello hello, Hello::decode(line));
  const bool is_new = groups_[hello.group].emplace(hello.rank, std::move(socket)).second;
  if (is_new) return {};
  return Error(ErrorCode::kAlreadyExists, fmt::format("{} greeted twice", member(hello.group, hello.rank)));
}

Status Controller::await(const std::string& group, int ranks, TimePoint deadline,
                         const std::function<Status()>& still_alive) {
  while (groups_[group].size() < static_cast<std::size_t>(ranks)) {
    const TimePoint now = std::chrono::steady_clock::now();
    COHORT_ASSIGN_OR_RETURN(auto socket, listener_.accept(std::min(deadline, now + kLookAfterProcesses)));
    if (socket) {
      COHORT_RETURN_IF_ERROR(greet(*std::move(socket), std::min(deadline, now + kGreetingLimit)));
      continue;
    }
    COHORT_RETURN_IF_ERROR(still_alive());
    if (now < deadline) continue;
    return Error(ErrorCode::kTimedOut,
                 fmt::format("{} of {} ranks of '{}' have reported", groups_[group].size(), ranks, group));
  }
  return {};
}

Result<std::vector<Times>> Controller::collect(const std::string& group, std::size_t samples,
                                               TimePoint deadline) {
  std::vector<std::pair<int, LineSocket*>> missing;
  for (auto& [rank, socket] : groups_[group]) missing.emplace_back(rank, &socket);
  std::vector<Times> all;
  while (!missing.empty()) {
    std::vector<std::pair<int, LineSocket*>> still;
    std::vector<int> descriptors;
    for (const auto& [rank, socket] : missing) {
      const std::string who = member(group, rank);
      COHORT_ASSIGN_OR_RETURN(const auto line, socket->poll_line().within(who + " is gone"));
      if (line) {
        COHORT_ASSIGN_OR_RETURN(all.emplace_back(), times_in(*line, samples).within(who));
        continue;
      }
      still.emplace_back(rank, socket);
      descriptors.push_back(socket->number());
    }
    missing = std::move(still);
    if (missing.empty()) break;
    COHORT_ASSIGN_OR_RETURN(const bool ready, wait_readable(descriptors, deadline));
    if (ready) continue;
    return Error(ErrorCode::kTimedOut,
                 fmt::format("{} has not answered", member(group, missing.front().first)));
  }
  return all;
}

Result<std::vector<Times>> Controller::ask(const std::string& group, const std::string& line,
                                           std::size_t samples, TimePoint deadline) {
  COHORT_CHECK(!groups_[group].empty(), "no rank of '{}' has greeted", group);
  for (auto& [rank, socket] : groups_[group]) {
    COHORT_RETURN_IF_ERROR(socket.write_line(line, deadline).within(member(group, rank) + " is gone"));
  }
  return collect(group, samples, deadline);
}

Result<std::vector<double>> Controller::run(const std::string& group, const RunCommand& command,
                                            TimePoint deadline) {
  COHORT_ASSIGN_OR_RETURN(const auto times,
                          ask(group, command.encode(), command.iterations, deadline).within(what(command)));
  return samples_of(command, times);
}

Result<std::vector<double>> Controller::run(const std::string& group, const StepCommand& command,
                                            TimePoint deadline) {
  COHORT_ASSIGN_OR_RETURN(const auto times,
                          ask(group, command.encode(), command.steps, deadline).within(what(command)));
  return samples_of(command, times);
}

Result<std::vector<double>> Controller::run(const std::string& group, const StateCommand& command,
                                            TimePoint deadline) {
  COHORT_ASSIGN_OR_RETURN(const auto times, ask(group, command.encode(), 1, deadline).within(what(command)));
  return samples_of(command, times);
}

void Controller::end(const std::string& group) {
  const TimePoint now = std::chrono::steady_clock::now();
  // A participant that does not get the line sees the end of the connection.
  for (auto& [rank, socket] : groups_[group]) static_cast<void>(socket.write_line(kEndLine, now));
  groups_.erase(group);
}

void Controller::end() {
  while (!groups_.empty()) end(std::string(groups_.begin()->first));
}

std::vector<double> samples_of(const RunCommand& command, const std::vector<Times>& ranks) {
  const double ways = command.operation == BenchOperation::kSendReceive ? 2 : 1;
  std::vector<double> samples = longest_of(ranks, command.iterations);
  for (double& sample : samples) sample /= ways * command.batch;
  return samples;
}

std::vector<double> samples_of(const StepCommand& command, const std::vector<Times>& ranks) {
  return longest_of(ranks, command.steps);
}

std::vector<double> samples_of(const StateCommand&, const std::vector<Times>& ranks) {
  return longest_of(ranks, 1);
}

}  // namespace cohort::measure
