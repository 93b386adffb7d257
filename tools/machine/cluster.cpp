#include "machine/cluster.h"

#include "machine/findings.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace cohort::machine {
namespace {

constexpr double kLargestOffset_s = 1;
constexpr double kSlowByBytes = 4;
constexpr double kSlowByLatency = 5;
constexpr double kSlowestFineLatency_s = 1e-3;  // a lower latency is never slow

constexpr const char* kLookAtTheWay =
    "Check cable, port, speed of the interface and other traffic on it (ethtool, ip -s link), or leave it "
    "out.";

void judge_host(const HostReport& host, const std::string& version, Findings& findings) {
  if (host.failure) {
    const bool differs = !host.version.empty() && host.version != version;
    return findings.problem(host.name, *host.failure,
                            differs
                                ? "Install the same version of Cohort on all hosts, or give the path of it "
                                  "with --remote-cohort."
                                : "Run a command there by hand, as --start does; it must not ask for a "
                                  "password, and must find this tool there (--remote-cohort).");
  }
  for (const Finding& finding : host.findings) {
    const std::string topic = fmt::format("{}: {}", host.name, finding.topic);
    if (finding.severity == Severity::kWarning) findings.warning(topic, finding.found, finding.remedy);
    if (finding.severity == Severity::kProblem) findings.problem(topic, finding.found, finding.remedy);
  }
}

void judge_clock(const HostReport& host, const std::string& first, Findings& findings) {
  if (!host.clock || std::abs(host.clock->offset_s) - host.clock->error_s <= kLargestOffset_s) return;
  findings.warning(fmt::format("{}: clock", host.name),
                   fmt::format("{:.1f} s {} that of {}", std::abs(host.clock->offset_s),
                               host.clock->offset_s > 0 ? "ahead of" : "behind", first),
                   "Let a time server set the clocks of all hosts (chrony, systemd-timesyncd): logs and "
                   "files are dated by "
                   "them.");
}

/// The links between hosts, judged by one measure (time per byte, or latency): some are slow.
class SlowWays {
 public:
  using Measure = std::function<double(const LinkCost&)>;
  struct Words {
    std::string (*format)(double);
    double factor;
    double floor;
  };

  SlowWays(const ClusterReport& report, Measure measure, Words words)
      : report_(report), measure_(std::move(measure)), words_(words), best_(report.hosts.size()) {
    for (const LinkReport& link : report_.links) {
      if (!link.cost) continue;
      const double value = measure_(*link.cost);
      for (const int host : {link.from, link.to}) {
        auto& best = best_[static_cast<std::size_t>(host)];
        best = std::min(best.value_or(value), value);
      }
    }
    std::vector<double> known;
    for (const auto& best : best_) {
      if (best) known.push_back(*best);
    }
    if (known.empty()) return;
    const auto middle = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
    std::nth_element(known.begin(), middle, known.end());
    usual_ = *middle;
  }

  void judge(Findings& findings) const {
    for (std::size_t host = 0; host < best_.size(); ++host) {
      if (best_[host] && is_slow(*best_[host])) warn(report_.hosts[host].name, *best_[host], findings);
    }
    for (const LinkReport& link : report_.links) {
      if (!link.cost || !is_slow(measure_(*link.cost)) || has_slow_end(link)) continue;
      warn(fmt::format("{} -> {}", name(link.from), name(link.to)), measure_(*link.cost), findings);
    }
  }

 private:
  bool is_slow(double value) const { return value > words_.floor && value > words_.factor * usual_; }
  bool has_slow_end(const LinkReport& link) const {
    return is_slow(*best_[static_cast<std::size_t>(link.from)]) ||
           is_slow(*best_[static_cast<std::size_t>(link.to)]);
  }
  const std::string& name(int host) const { return report_.hosts[static_cast<std::size_t>(host)].name; }
  void warn(const std::string& topic, double value, Findings& findings) const {
    findings.warning(
        topic,
        fmt::format("slow: {}, where most hosts reach {}", words_.format(value), words_.format(usual_)),
        kLookAtTheWay);
  }

  const ClusterReport& report_;
  const Measure measure_;
  const Words words_;
  std::vector<std::optional<double>> best_;  // indexed by host; empty: none of its links was measured
  double usual_ = 0;
};

bool cannot_reach(const ClusterReport& report, int from, int to) {
  return std::any_of(report.unreachable.begin(), report.unreachable.end(),
                     [&](const Unreachable& each) { return each.from == from && each.to == to; });
}

// A pair that fails in both directions is reported once.
void judge_unreachable(const ClusterReport& report, Findings& findings) {
  const auto name = [&](int host) { return report.hosts[static_cast<std::size_t>(host)].name; };
  for (const Unreachable& each : report.unreachable) {
    const bool is_mutual = each.to && cannot_reach(report, *each.to, each.from);
    if (is_mutual && *each.to < each.from) continue;
    findings.problem(
        fmt::format("{} {} {}", name(each.from), is_mutual ? "-" : "->",
                    each.to ? name(*each.to) : "this host"),
        each.why,
        "Let each host open TCP connections to each other host and to the one that starts the job, at all "
        "ports "
        "of net.ipv4.ip_local_port_range: check firewalls and routes, or name a network that all hosts share "
        "with --interface.");
  }
}

// Both directions of a pair mostly fail for the same reason.
void judge_lost_ways(const ClusterReport& report, Findings& findings) {
  for (const LinkReport& link : report.links) {
    if (link.cost || cannot_reach(report, link.from, link.to) || cannot_reach(report, link.to, link.from)) {
      continue;
    }
    const auto is_way_back = [&](const LinkReport& other) {
      return other.from == link.to && other.to == link.from && !other.cost;
    };
    if (link.from > link.to && std::any_of(report.links.begin(), report.links.end(), is_way_back)) continue;
    const auto& from = report.hosts[static_cast<std::size_t>(std::min(link.from, link.to))].name;
    const auto& to = report.hosts[static_cast<std::size_t>(std::max(link.from, link.to))].name;
    findings.problem(
        fmt::format("{} - {}", from, to), link.failure,
        "Both are reachable from here, but not from each other: check firewalls and routes between "
        "them, or name the network that they share with --interface.");
  }
}

}  // namespace

const HostReport* clock_reference(const ClusterReport& report) {
  const auto first = std::find_if(report.hosts.begin(), report.hosts.end(),
                                  [](const HostReport& host) { return !host.failure; });
  return first == report.hosts.end() ? nullptr : &*first;
}

std::vector<Finding> diagnose_hosts(const ClusterReport& report) {
  Findings findings;
  for (const HostReport& host : report.hosts) judge_host(host, report.version, findings);
  if (const HostReport* first = clock_reference(report)) {
    for (const HostReport& host : report.hosts) judge_clock(host, first->name, findings);
  }
  judge_unreachable(report, findings);
  judge_lost_ways(report, findings);
  SlowWays(report, [](const LinkCost& cost) { return cost.byte_s; },
           {.format = format_rate, .factor = kSlowByBytes, .floor = 0})
      .judge(findings);
  SlowWays(report, [](const LinkCost& cost) { return cost.latency_s; },
           {.format = format_latency, .factor = kSlowByLatency, .floor = kSlowestFineLatency_s})
      .judge(findings);
  if (report.failure) {
    findings.problem(
        "measuring", *report.failure,
        "The results above are from before the failure. Try again; if it fails again, leave that host out.");
  }
  return std::move(findings).take();
}

std::string format_rate(double byte_s) {
  if (!(byte_s > 0)) return "–";
  const double megabits = 8e-6 / byte_s;
  return megabits >= 999.5 ? fmt::format("{:.3g} Gbit/s", megabits / 1e3)
                           : fmt::format("{:.3g} Mbit/s", megabits);
}

std::string format_latency(double latency_s) {
  if (!(latency_s > 0)) return "–";
  if (latency_s >= 1) return fmt::format("{:.3g} s", latency_s);
  return latency_s >= 0.9995e-3 ? fmt::format("{:.3g} ms", latency_s * 1e3)
                                : fmt::format("{:.3g} µs", latency_s * 1e6);
}

}  // namespace cohort::machine
