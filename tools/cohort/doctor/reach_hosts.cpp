#include "doctor/reach_hosts.h"

#include "base/clock.h"
#include "doctor/reach.h"
#include "doctor/remote_command.h"
#include "launch/environment.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <mutex>
#include <set>

namespace cohort::tool {
namespace {

using namespace std::chrono_literals;
using machine::Unreachable;

constexpr auto kListenLimit = 4s;    // for the listeners of all hosts to start
constexpr auto kReachingLimit = 5s;  // for the attempts of one host, its start included

/// The lines that one command on each host has printed.
///
/// Threads: every method from any thread.
class LinesByHost {
 public:
  explicit LinesByHost(std::size_t hosts) : lines_(hosts), expected_(hosts) {}

  void add(std::size_t host, const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_[host].push_back(line);
    changed_.notify_all();
  }
  void end(std::size_t host) {
    const std::lock_guard lock(mutex_);
    expected_[host] = 0;
    changed_.notify_all();
  }
  void expect(std::size_t host, std::size_t lines) { expected_[host] = lines; }

  /// The lines so far, once every host has printed its expected number or has ended, or at the deadline.
  std::vector<std::vector<std::string>> wait_until(TimePoint deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] {
      for (std::size_t host = 0; host < lines_.size(); ++host) {
        if (lines_[host].size() < expected_[host]) return false;
      }
      return true;
    });
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::string>> lines_;
  std::vector<std::size_t> expected_;  // of lines, by host
};

HostJobPlan plan_on(const HostJobPlan& all, std::size_t host, std::vector<std::string> words) {
  HostJobPlan plan = all;
  plan.hosts = {{.name = all.hosts[host].name, .ranks = 1}};
  plan.common.world = 1;
  plan.common.argv = {all.agent.front()};
  plan.common.argv.insert(plan.common.argv.end(), words.begin(), words.end());
  return plan;
}

// The listener of each host, and after the last host that of this one, if it is none of the hosts.
using ReachTargets = std::vector<std::optional<ReachTarget>>;

std::set<std::string> places_of(const ReachTarget& target) {
  std::set<std::string> places;
  for (const net::SocketAddress& address : target.addresses) places.insert(address.with_port(0).text());
  return places;
}

// The index of this host, if it is one of the hosts; otherwise it becomes a target of its own.
std::optional<int> add_launcher(const ReachTarget& launcher, ReachTargets& targets) {
  const auto here = std::find_if(targets.begin(), targets.end(), [&](const auto& target) {
    return target && places_of(*target) == places_of(launcher);
  });
  if (here != targets.end()) return static_cast<int>(here - targets.begin());
  targets.emplace_back(launcher);
  return std::nullopt;
}

std::string unreachable_text(const Unreachable& found, const std::vector<supervise::HostShare>& hosts) {
  const std::string& from = hosts[static_cast<std::size_t>(found.from)].name;
  const std::string to = found.to ? hosts[static_cast<std::size_t>(*found.to)].name : "this host";
  return fmt::format("{} cannot reach {}: {}", from, to, found.why);
}

/// The attempts of all hosts, at the same time.
class ReachRound {
 public:
  ReachRound(const HostJobPlan& plan, const ReachTargets& targets)
      : plan_(plan), targets_(targets), lines_(plan.hosts.size()), tried_(plan.hosts.size()) {}

  /// The commands are added to `commands`, which must be destroyed before the round.
  std::vector<Unreachable> run(std::deque<RemoteCommand>& commands) {
    for (std::size_t host = 0; host < tried_.size(); ++host) start(host, commands);
    const auto lines = lines_.wait_until(deadline_after(std::chrono::steady_clock::now(), kReachingLimit));
    std::vector<Unreachable> found;
    for (std::size_t host = 0; host < lines.size(); ++host) {
      for (const std::string& line : lines[host]) take(host, line, found);
    }
    return found;
  }

 private:
  void start(std::size_t host, std::deque<RemoteCommand>& commands) {
    std::vector<std::string> words{"doctor-reach"};
    for (std::size_t to = 0; targets_[host] && to < targets_.size(); ++to) {
      if (to == host || !targets_[to]) continue;
      words.push_back(targets_[to]->text());
      tried_[host].push_back(to);
    }
    lines_.expect(host, tried_[host].size());
    if (tried_[host].empty()) return;
    commands.emplace_back(
        plan_on(plan_, host, words), [this, host](const std::string& line) { lines_.add(host, line); },
        [this, host] { lines_.end(host); });
  }

  // A line is the index of a target, and the reason if the target was not reached.
  void take(std::size_t host, const std::string& line, std::vector<Unreachable>& found) const {
    std::size_t index = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), index);
    const std::string why(parsed.ptr, line.data() + line.size());
    if (parsed.ec != std::errc() || index >= tried_[host].size() || why.size() < 2) return;
    const std::size_t to = tried_[host][index];
    Unreachable unreachable{.from = static_cast<int>(host), .why = why.substr(1)};
    if (to < plan_.hosts.size()) unreachable.to = static_cast<int>(to);
    found.push_back(std::move(unreachable));
  }

  const HostJobPlan& plan_;
  const ReachTargets& targets_;
  LinesByHost lines_;
  std::vector<std::vector<std::size_t>> tried_;  // the targets of each host
};

std::vector<std::string> interfaces_of(const HostJobPlan& plan) {
  const auto facts = launch_facts(plan.common.environment);
  return facts ? facts->links.interfaces : std::vector<std::string>();
}

}  // namespace

ReachReport find_unreachable(const HostJobPlan& plan,
                             const std::function<void(const std::string& text)>& tell) {
  const auto launcher = ReachListener::open(interfaces_of(plan));
  LinesByHost lines(plan.hosts.size());
  std::deque<RemoteCommand> listeners;
  for (std::size_t host = 0; host < plan.hosts.size(); ++host) {
    lines.expect(host, 1);
    listeners.emplace_back(
        plan_on(plan, host, {"doctor-listen"}),
        [&lines, host](const std::string& line) { lines.add(host, line); },
        [&lines, host] { lines.end(host); });
  }
  ReachTargets targets;
  for (const auto& said : lines.wait_until(deadline_after(std::chrono::steady_clock::now(), kListenLimit))) {
    const auto target = said.empty() ? Error(ErrorCode::kNotFound, "") : ReachTarget::parse(said.front());
    targets.push_back(target ? std::optional(*target) : std::nullopt);
  }
  ReachReport report;
  if (launcher) report.here = add_launcher((*launcher)->target(), targets);
  ReachRound round(plan, targets);
  std::deque<RemoteCommand> attempts;
  report.unreachable = round.run(attempts);
  for (const Unreachable& each : report.unreachable) tell(unreachable_text(each, plan.hosts));
  for (auto* commands : {&listeners, &attempts}) {
    for (RemoteCommand& command : *commands) command.end();
  }
  return report;
}

}  // namespace cohort::tool
