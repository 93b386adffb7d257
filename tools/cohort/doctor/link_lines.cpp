#include "doctor/measure_links.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cohort::tool {
namespace {

using Json = nlohmann::ordered_json;
using machine::ClusterReport;
using machine::LinkReport;

std::string one_line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::optional<int> host_in(const Json& object, const char* key, std::span<const int> hosts) {
  if (!object.contains(key) || !object[key].is_number_unsigned()) return std::nullopt;
  const auto rank = object[key].get<std::size_t>();
  return rank < hosts.size() ? std::optional(hosts[rank]) : std::nullopt;
}

bool are_numbers(const Json& object, const char* first, const char* second) {
  return object.contains(first) && object[first].is_number() && object.contains(second) &&
         object[second].is_number();
}

void take_link(const Json& object, std::span<const int> hosts, ClusterReport& report) {
  const auto from = host_in(object, "from", hosts);
  const auto to = host_in(object, "to", hosts);
  if (!from || !to) return;
  LinkReport link{.from = *from, .to = *to};
  if (are_numbers(object, "latency_s", "byte_s")) {
    link.cost = machine::LinkCost{object["latency_s"].get<double>(), object["byte_s"].get<double>()};
  } else if (object.contains("failure") && object["failure"].is_string()) {
    link.failure = object["failure"].get<std::string>();
  } else {
    return;
  }
  const auto same = std::find_if(report.links.begin(), report.links.end(), [&](const LinkReport& known) {
    return known.from == link.from && known.to == link.to;
  });
  if (same == report.links.end()) {
    report.links.push_back(link);
  } else if (link.cost && !same->cost) {
    *same = link;
  }
}

void take_clock(const Json& object, std::span<const int> hosts, ClusterReport& report) {
  const auto host = host_in(object, "rank", hosts);
  if (!host || !are_numbers(object, "offset_s", "error_s")) return;
  report.hosts[static_cast<std::size_t>(*host)].clock =
      machine::ClockReading{object["offset_s"].get<double>(), object["error_s"].get<double>()};
}

}  // namespace

std::string link_line(const LinkReport& link) {
  Json object{{"from", link.from}, {"to", link.to}};
  if (link.cost) {
    object["latency_s"] = link.cost->latency_s;
    object["byte_s"] = link.cost->byte_s;
  } else {
    object["failure"] = link.failure;
  }
  return one_line({{"link", object}});
}

std::string clock_line(int rank, const machine::ClockReading& clock) {
  return one_line({{"clock", {{"rank", rank}, {"offset_s", clock.offset_s}, {"error_s", clock.error_s}}}});
}

void take_line(std::string_view line, std::span<const int> hosts, ClusterReport& report) {
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return;
  if (object.contains("link")) take_link(object["link"], hosts, report);
  if (object.contains("clock")) take_clock(object["clock"], hosts, report);
}

}  // namespace cohort::tool
