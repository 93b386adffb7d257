#include "doctor/examination.h"

#include "base/units.h"
#include "doctor/doctor_output.h"
#include "doctor/line_output.h"
#include "doctor/measure_links.h"
#include "doctor/reach_hosts.h"
#include "net/tcp_meeting.h"

#include <algorithm>
#include <cohort/version.h>
#include <csignal>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>

namespace cohort::tool {
namespace {

using namespace std::chrono_literals;
using machine::ClusterReport;
using machine::HostReport;
using Json = nlohmann::ordered_json;

constexpr auto kAnswerLimit = 2min;  // for a host to examine itself

// ----- each host by itself -----

// IPv6 only without IPv4; link-local addresses are skipped because they mean nothing to other hosts.
void take_addresses(const Json& interface, HostReport& host) {
  if (!interface.is_object() || !interface.value("up", false) || interface.value("loopback", true)) return;
  for (const char* family : {"ipv4", "ipv6"}) {
    const std::size_t before = host.addresses.size();
    for (const Json& address : interface.value(family, Json::array())) {
      const std::string text = address.is_string() ? address.get<std::string>() : "";
      if (text.empty() || text.starts_with("fe80:")) continue;
      host.addresses.push_back(fmt::format("{} {}", interface.value("name", ""), text));
    }
    if (host.addresses.size() > before) return;
  }
}

// The part of the survey that is shown; a fact that the host could not read is an object with the reason.
void take_survey(const Json& survey, HostReport& host) {
  const auto at = [&](const char* path) {
    const Json::json_pointer pointer(path);
    return survey.contains(pointer) ? survey[pointer] : Json();
  };
  if (const Json kernel = at("/system/kernel"); kernel.is_string()) host.kernel = kernel.get<std::string>();
  if (const Json cores = at("/cores/allowed"); cores.is_number()) host.cores = cores.get<int>();
  if (const Json total = at("/memory/total_bytes"); total.is_number()) {
    host.memory_bytes = total.get<std::uint64_t>();
  }
  if (const Json interfaces = at("/interfaces"); interfaces.is_array()) {
    for (const Json& interface : interfaces) take_addresses(interface, host);
  }
}

std::string last_line(const std::deque<std::string>& lines) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!line->empty()) return *line;
  }
  return "";
}

// Why a host did not answer.
std::string failure_of(const JobOutcome& outcome) {
  std::string why = "its `cohort doctor` gave no result";
  std::string said;
  if (outcome.lost_host) {
    why = outcome.lost_host->why;
    if (!outcome.lost_host->version) said = last_line(outcome.lost_host->last_lines);
  } else if (outcome.end == JobEnd::kTimedOut) {
    why = "its `cohort doctor` did not end in time";
  } else if (!outcome.ranks.empty()) {
    const RankOutcome& rank = outcome.ranks.front();
    said = last_line(rank.last_error_output.empty() ? rank.last_output : rank.last_error_output);
  }
  return said.empty() ? why : fmt::format("{} ({})", said, why);
}

// The output and the outcome of the one rank of this job. Nothing writes to `text` after the return.
Result<JobOutcome> listen_to(HostJobPlan plan, std::string& text) {
  LineOutput output([&](int, const std::string& line) { text += line + '\n'; });
  HostJob job(std::move(plan), output);
  return job.run();
}

HostReport examine_host(HostJobPlan plan) {
  HostReport report{.name = plan.hosts.front().name};
  std::string text;
  const Result<JobOutcome> outcome = listen_to(std::move(plan), text);
  if (!outcome) {
    report.failure = outcome.error().root().message();
    return report;
  }
  if (outcome->lost_host && outcome->lost_host->version) report.version = *outcome->lost_host->version;
  const Json said = Json::parse(text, nullptr, false);
  if (!said.is_object() || !said.contains("survey") || !said.contains("findings")) {
    report.failure = failure_of(*outcome);
    return report;
  }
  report.version = std::string(version());  // agents of other versions are refused
  take_survey(said["survey"], report);
  report.findings = findings_in(said["findings"]);
  // The agent set these variables for its one rank.
  std::erase_if(report.findings,
                [](const machine::Finding& finding) { return finding.topic == "thread counts"; });
  return report;
}

HostJobPlan plan_for(const HostJobPlan& all, const supervise::HostShare& share,
                     const std::vector<std::string>& job) {
  HostJobPlan plan = all;
  plan.hosts = {{.name = share.name, .ranks = 1}};
  plan.common.world = 1;
  plan.common.argv = {all.agent.front(), "doctor", "--json"};
  plan.common.argv.insert(plan.common.argv.end(), job.begin(), job.end());
  plan.common.argv.insert(plan.common.argv.end(), {"--set", fmt::format("launch.ranks={}", share.ranks)});
  plan.limit = kAnswerLimit;
  return plan;
}

// One thread per host, so that hosts that do not answer cost their timeout only once.
std::vector<HostReport> examine_each(const HostJobPlan& plan, const HostsExamination& examination) {
  std::vector<HostReport> reports(plan.hosts.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    threads.emplace_back([&, i] {
      reports[i] = examine_host(plan_for(plan, plan.hosts[i], examination.job));
      examination.progress(
          fmt::format("{} has {}", reports[i].name, reports[i].failure ? "failed" : "answered"));
    });
  }
  threads.clear();
  return reports;
}

// ----- the links between hosts -----

bool cannot_connect(const ClusterReport& report, int from, std::optional<int> to) {
  return std::any_of(report.unreachable.begin(), report.unreachable.end(),
                     [&](const machine::Unreachable& each) { return each.from == from && each.to == to; });
}

// The measuring ranks meet at this host.
std::vector<int> hosts_that_can_meet(const ClusterReport& report, std::optional<int> here) {
  std::vector<int> hosts;
  for (int i = 0; i < static_cast<int>(report.hosts.size()); ++i) {
    const bool is_cut_off =
        cannot_connect(report, i, std::nullopt) || (here && cannot_connect(report, i, here));
    if (!report.hosts[static_cast<std::size_t>(i)].failure && !is_cut_off) hosts.push_back(i);
  }
  return hosts;
}

// The higher of two ranks connects to the lower one.
void leave_out(const std::vector<int>& hosts, ClusterReport& report, LinkMeasuring& measuring) {
  for (int low = 0; low < static_cast<int>(hosts.size()); ++low) {
    for (int high = low + 1; high < static_cast<int>(hosts.size()); ++high) {
      const int to = hosts[static_cast<std::size_t>(low)];
      const int from = hosts[static_cast<std::size_t>(high)];
      if (!cannot_connect(report, from, to)) continue;
      measuring.left_out.emplace_back(low, high);
      for (const auto& [one, other] : {std::pair(from, to), std::pair(to, from)}) {
        report.links.push_back({.from = one, .to = other, .cost = {}, .failure = "not measured"});
      }
    }
  }
}

HostJobPlan plan_for_links(const HostJobPlan& all, const std::vector<int>& hosts,
                           const LinkMeasuring& measuring) {
  HostJobPlan plan = all;
  plan.hosts.clear();
  for (const int host : hosts) plan.hosts.push_back({.name = all.hosts[static_cast<std::size_t>(host)].name});
  plan.common.world = static_cast<int>(hosts.size());
  plan.common.argv = {all.agent.front(), "doctor-links", "--time", exact_duration(measuring.time)};
  if (measuring.pairs == PairsAtOnce::kDisjoint) plan.common.argv.emplace_back("--at-once");
  for (const auto& [low, high] : measuring.left_out) {
    plan.common.argv.insert(plan.common.argv.end(), {"--without", std::to_string(low), std::to_string(high)});
  }
  plan.limit = longest_measuring(plan.common.world, measuring);
  return plan;
}

// The reason why measuring ended early, in one line.
std::string first_line(std::string_view summary) {
  constexpr std::string_view kSpeaker = "cohort: ";
  if (summary.starts_with(kSpeaker)) summary.remove_prefix(kSpeaker.size());
  return std::string(summary.substr(0, summary.find('\n')));
}

void measure_ways(HostedJob& hosted, const HostsExamination& examination, const std::vector<int>& hosts,
                  ClusterReport& report) {
  if (hosts.size() < 2) return;
  LinkMeasuring measuring = examination.measuring;
  leave_out(hosts, report, measuring);
  const std::size_t all = hosts.size() * (hosts.size() - 1);
  examination.progress(fmt::format("starting ranks on {} hosts", hosts.size()));
  LineOutput output([&](int, const std::string& line) {
    take_line(line, hosts, report);
    examination.progress(fmt::format("measured {} of {} links", report.links.size(), all));
  });
  HostJob job(plan_for_links(hosted.plan, hosts, measuring), output);
  const net::MeetingServer server(hosted.key, std::move(hosted.listener), static_cast<int>(hosts.size()));
  const Result<JobOutcome> outcome = job.run();
  if (!outcome) {
    report.failure = outcome.error().root().message();
  } else if (outcome->end != JobEnd::kAllDone) {
    report.failure = first_line(outcome->summary());
  }
}

}  // namespace

ClusterReport examine_hosts(HostedJob hosted, const HostsExamination& examination) {
  std::signal(SIGPIPE, SIG_IGN);  // a lost agent is noticed by its missing report
  ClusterReport report{.version = std::string(version())};
  examination.progress(fmt::format("asking {} hosts", hosted.plan.hosts.size()));
  ReachReport reach;
  {
    const std::jthread reaching([&] { reach = find_unreachable(hosted.plan, examination.tell); });
    report.hosts = examine_each(hosted.plan, examination);
  }
  report.unreachable = std::move(reach.unreachable);
  measure_ways(hosted, examination, hosts_that_can_meet(report, reach.here), report);
  return report;
}

}  // namespace cohort::tool
