#include "doctor/doctor_output.h"

#include "observe/table.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace cohort::tool {

using machine::Finding;
using machine::Severity;
namespace {
using Json = nlohmann::ordered_json;
}

Colour colour_of(Severity severity) {
  switch (severity) {
    case Severity::kFine:
      return Colour::kGreen;
    case Severity::kNote:
      return Colour::kNone;
    case Severity::kWarning:
      return Colour::kYellow;
    case Severity::kProblem:
      return Colour::kRed;
  }
  return Colour::kNone;
}

std::string findings_table(const Session& session, const std::vector<Finding>& findings) {
  observe::Table table({"topic", "", "finding and remedy"});
  for (const Finding& finding : findings) {
    const observe::Cell verdict{std::string(name(finding.severity)), colour_of(finding.severity)};
    table.add({{finding.topic, Colour::kBold}, verdict, {finding.found}});
    if (!finding.remedy.empty()) table.add({{""}, {""}, {"-> " + finding.remedy, Colour::kFaint}});
  }
  return table.text(session.screen());
}

std::string findings_closing(const Session& session, const std::vector<Finding>& findings,
                             const std::string& when_fine) {
  const auto count = [&](Severity severity) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding& f) { return f.severity == severity; });
  };
  const auto problems = count(Severity::kProblem);
  const auto warnings = count(Severity::kWarning);
  if (problems > 0) {
    return session.coloured(fmt::format("{} problem(s): the job would not run.", problems), Colour::kRed);
  }
  if (warnings > 0) {
    return session.coloured(fmt::format("{} warning(s): the job would run, but slowly or at risk.", warnings),
                            Colour::kYellow);
  }
  return session.coloured(when_fine, Colour::kGreen);
}

Json to_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"topic", finding.topic},
                    {"severity", name(finding.severity)},
                    {"found", finding.found},
                    {"remedy", finding.remedy}});
  }
  return list;
}

std::vector<Finding> findings_in(const Json& list) {
  constexpr std::array kSeverities{Severity::kFine, Severity::kNote, Severity::kWarning, Severity::kProblem};
  std::vector<Finding> findings;
  for (const Json& object : list) {
    if (!object.is_object()) continue;
    const auto severity = std::find_if(kSeverities.begin(), kSeverities.end(), [&](Severity each) {
      return object.value("severity", "") == name(each);
    });
    if (severity == kSeverities.end()) continue;
    findings.push_back({.topic = object.value("topic", ""),
                        .severity = *severity,
                        .found = object.value("found", ""),
                        .remedy = object.value("remedy", "")});
  }
  return findings;
}

}  // namespace cohort::tool
