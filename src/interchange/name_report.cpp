#include "interchange/name_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace cohort::interchange {
namespace {

std::string text_of_facts(const TensorFacts& facts) {
  return fmt::format("{} [{}]", name(facts.dtype), fmt::join(facts.shape, ", "));
}

std::string text_of_match(const NameReport::Match& match) {
  return match.from == match.to ? match.from : fmt::format("{} -> {}", match.from, match.to);
}

void add_lines(std::string& text, std::string_view heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  text += fmt::format("\n{}:\n  {}", heading, fmt::join(lines, "\n  "));
}

std::vector<std::string> lines_of(const std::vector<NameReport::Match>& matches) {
  std::vector<std::string> lines;
  for (const auto& match : matches) lines.push_back(text_of_match(match));
  return lines;
}

// Puts the tensors of a file into the lists of a report, one by one.
class Mapping {
 public:
  Mapping(const NameRules& rules, std::span<const TensorFacts> target) : rules_(rules) {
    for (const TensorFacts& facts : target) wanted_.emplace(facts.name, &facts);
    is_idle_.assign(rules.texts().size(), true);
  }

  void add(const TensorFacts& facts) {
    const NameRules::Applied applied = rules_.apply(facts.name);
    if (applied.rule) is_idle_[*applied.rule] = false;
    const NameReport::Match match{.from = facts.name, .to = applied.name};
    const auto found = wanted_.find(applied.name);
    if (!taken_.try_emplace(applied.name).second) {
      report_.clashing.push_back(match);
    } else if (found == wanted_.end()) {
      report_.unused.push_back(match);
    } else if (found->second->dtype == facts.dtype && found->second->shape == facts.shape) {
      report_.matched.push_back(match);
    } else {
      report_.differing.push_back(
          {.names = match, .found = text_of_facts(facts), .expected = text_of_facts(*found->second)});
    }
  }

  NameReport finish(std::span<const TensorFacts> target) {
    for (const TensorFacts& facts : target) {
      if (!taken_.contains(facts.name)) report_.missing.push_back(facts.name);
    }
    for (std::size_t rule = 0; rule < is_idle_.size(); ++rule) {
      if (is_idle_[rule]) report_.idle_rules.push_back(rules_.texts()[rule]);
    }
    return std::move(report_);
  }

 private:
  const NameRules& rules_;
  std::map<std::string_view, const TensorFacts*> wanted_;
  std::map<std::string, bool, std::less<>> taken_;
  std::vector<bool> is_idle_;
  NameReport report_;
};

}  // namespace

std::string NameReport::text() const {
  std::vector<std::string> renamed, different;
  for (const Match& match : matched) {
    if (match.from != match.to) renamed.push_back(text_of_match(match));
  }
  for (const Difference& each : differing) {
    different.push_back(
        fmt::format("{}: {} in the file, expected {}", text_of_match(each.names), each.found, each.expected));
  }
  std::string text =
      fmt::format("{} matched ({} renamed), {} of another type or shape, {} unused, {} missing",
                  matched.size(), renamed.size(), differing.size(), unused.size(), missing.size());
  add_lines(text, "renamed", renamed);
  add_lines(text, "of another type or shape", different);
  add_lines(text, "in the file, not used", lines_of(unused));
  add_lines(text, "missing in the file", missing);
  add_lines(text, "renamed to a name that another tensor has", lines_of(clashing));
  add_lines(text, "rules that match no name", idle_rules);
  return text + "\n";
}

NameReport map_names(const NameRules& rules, std::span<const TensorFacts> file,
                     std::span<const TensorFacts> target) {
  Mapping mapping(rules, target);
  for (const TensorFacts& facts : file) mapping.add(facts);
  return mapping.finish(target);
}

}  // namespace cohort::interchange
