
#include "base/units.h"
#include "doctor/doctor_output.h"
#include "observe/table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace cohort::tool {
namespace {

using Json = nlohmann::ordered_json;
using machine::ClusterReport;
using machine::Finding;
using machine::HostReport;
using machine::LinkCost;
using machine::LinkReport;
using machine::Severity;
using measure::HeatMap;
using observe::Cell;
using observe::Table;

// ----- links -----

struct Respect {
  const char* title;
  double (*value)(const LinkCost&);
  std::string (*format)(double);
};

HeatMap heat_map(const ClusterReport& report, const Respect& respect) {
  const std::size_t n = report.hosts.size();
  HeatMap map{.title = respect.title};
  for (const HostReport& host : report.hosts) map.labels.push_back(host.name);
  map.rows.assign(n, std::vector<measure::HeatCell>(n, {.text = "?"}));
  for (std::size_t i = 0; i < n; ++i) map.rows[i][i].text = "";
  std::vector<double> values;
  for (const LinkReport& link : report.links) values.push_back(link.cost ? respect.value(*link.cost) : 0);
  const auto heats = measure::heats_of(values);
  for (std::size_t i = 0; i < report.links.size(); ++i) {
    const LinkReport& link = report.links[i];
    auto& cell = map.rows[static_cast<std::size_t>(link.from)][static_cast<std::size_t>(link.to)];
    cell = {.text = link.cost ? respect.format(values[i]) : "no link", .heat = heats[i]};
    if (!link.cost) cell.heat = 1;
  }
  return map;
}

// Cells have one width, so that their backgrounds touch.
std::string heat_table(const Session& session, const HeatMap& map) {
  std::size_t width = 0;
  for (const std::string& label : map.labels) width = std::max(width, observe::columns_of(label));
  for (const auto& row : map.rows) {
    for (const auto& cell : row) width = std::max(width, observe::columns_of(cell.text));
  }
  const auto padded = [&](const std::string& text) {
    return std::string(width - observe::columns_of(text), ' ') + text;
  };
  std::vector<std::string> header{"from \\ to"};
  for (const std::string& label : map.labels) header.push_back(padded(label));
  Table table(header);
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    std::vector<Cell> row{{map.labels[i], Colour::kBold}};
    for (const auto& cell : map.rows[i]) {
      row.push_back({padded(cell.text), cell.heat ? observe::heat_colour(*cell.heat) : Colour::kNone});
    }
    table.add(std::move(row));
  }
  return session.coloured(map.title, Colour::kBold) + '\n' + table.text(session.screen());
}

// ----- hosts -----

// The highest severity of the findings about this host alone.
Severity verdict_on(const HostReport& host, const std::vector<Finding>& findings) {
  Severity gravest = Severity::kFine;
  for (const Finding& finding : findings) {
    const bool is_its_own = finding.topic == host.name || finding.topic.starts_with(host.name + ": ");
    if (is_its_own) gravest = std::max(gravest, finding.severity);
  }
  return gravest;
}

std::string clock_text(const HostReport& host) {
  if (!host.clock) return "–";
  const auto [offset_s, error_s] = *host.clock;
  if (std::abs(offset_s) <= error_s) return fmt::format("same ± {}", machine::format_latency(error_s));
  return fmt::format("{}{} ± {}", offset_s < 0 ? "-" : "+", machine::format_latency(std::abs(offset_s)),
                     machine::format_latency(error_s));
}

std::string hosts_table(const Session& session, const ClusterReport& report,
                        const std::vector<Finding>& findings) {
  Table table({"host", "", "Cohort", "clock", "cores", "memory", "kernel", "addresses"});
  const auto or_dash = [](const std::string& text) { return text.empty() ? std::string("–") : text; };
  for (const HostReport& host : report.hosts) {
    const Severity verdict = verdict_on(host, findings);
    const bool is_first = &host == machine::clock_reference(report);
    table.add({{host.name, Colour::kBold},
               {std::string(name(verdict)), colour_of(verdict)},
               {or_dash(host.version)},
               {is_first ? "reference" : clock_text(host)},
               {host.cores > 0 ? std::to_string(host.cores) : "–"},
               {host.memory_bytes > 0 ? format_bytes(host.memory_bytes) : "–"},
               {or_dash(host.kernel)},
               {or_dash(fmt::format("{}", fmt::join(host.addresses, ", ")))}});
  }
  return table.text(session.screen());
}

Json host_json(const HostReport& host, Severity verdict) {
  Json object{{"name", host.name}, {"verdict", name(verdict)}};
  if (host.failure) object["failure"] = *host.failure;
  if (!host.version.empty()) object["version"] = host.version;
  if (host.failure) return object;
  object["kernel"] = host.kernel;
  object["cores"] = host.cores;
  object["memory_bytes"] = host.memory_bytes;
  object["addresses"] = host.addresses;
  if (host.clock) {
    object["clock_offset_s"] = host.clock->offset_s;
    object["clock_error_s"] = host.clock->error_s;
  }
  return object;
}

Json link_json(const ClusterReport& report, const LinkReport& link) {
  Json object{{"from", report.hosts[static_cast<std::size_t>(link.from)].name},
              {"to", report.hosts[static_cast<std::size_t>(link.to)].name}};
  if (link.cost) {
    object["latency_s"] = link.cost->latency_s;
    object["bytes_per_second"] = link.cost->byte_s > 0 ? Json(1 / link.cost->byte_s) : Json(nullptr);
  } else {
    object["failure"] = link.failure;
  }
  return object;
}

Json unreachable_json(const ClusterReport& report, const machine::Unreachable& each) {
  const auto name = [&](int host) { return report.hosts[static_cast<std::size_t>(host)].name; };
  return {
      {"from", name(each.from)}, {"to", each.to ? Json(name(*each.to)) : Json(nullptr)}, {"why", each.why}};
}

}  // namespace

std::vector<HeatMap> heat_maps(const ClusterReport& report) {
  return {
      heat_map(report, {"bandwidth", [](const LinkCost& cost) { return cost.byte_s; }, machine::format_rate}),
      heat_map(report, {"latency, one way", [](const LinkCost& cost) { return cost.latency_s; },
                        machine::format_latency})};
}

std::string hosts_text(const Session& session, const ClusterReport& report,
                       const std::vector<Finding>& findings) {
  std::string text = hosts_table(session, report, findings) + '\n';
  if (!report.links.empty()) {
    for (const HeatMap& map : heat_maps(report)) text += heat_table(session, map) + '\n';
  }
  if (!findings.empty()) text += findings_table(session, findings) + '\n';
  return text + findings_closing(session, findings, "These hosts are fine.") + '\n';
}

Json hosts_json(const ClusterReport& report, const std::vector<Finding>& findings) {
  Json hosts = Json::array();
  for (const HostReport& host : report.hosts) hosts.push_back(host_json(host, verdict_on(host, findings)));
  Json links = Json::array();
  for (const LinkReport& link : report.links) links.push_back(link_json(report, link));
  Json unreachable = Json::array();
  for (const auto& each : report.unreachable) unreachable.push_back(unreachable_json(report, each));
  return {{"ok", machine::worst(findings) != Severity::kProblem},
          {"version", report.version},
          {"hosts", hosts},
          {"links", links},
          {"unreachable", unreachable},
          {"findings", to_json(findings)}};
}

}  // namespace cohort::tool
