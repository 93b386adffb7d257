#include "update/groups.h"

#include "base/nearest.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace cohort::update {

bool matches(std::string_view pattern, std::string_view name) {
  // The state after the last star. If the rest does not match, the star takes one more character.
  struct Retry {
    std::size_t pattern;
    std::size_t name;
  };
  std::optional<Retry> retry;
  std::size_t p = 0;
  std::size_t n = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      retry = Retry{++p, n};
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (retry) {
      p = retry->pattern;
      n = ++retry->name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace cohort::update

namespace cohort {
namespace {

constexpr std::string_view kForm =
    "'pattern, pattern: learning_rate=NUMBER, learning_rate_factor=NUMBER, weight_decay=NUMBER, frozen, "
    "reducer=NAME, synchronizer=NAME'";

Error mistake(const std::string& text, const std::string& reason) {
  return Error(ErrorCode::kUsage, fmt::format("group '{}' of optimizer.groups {}", text, reason))
      .with_remedy(fmt::format("Write it as {}.", kForm));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Result<double> number(const std::string& key, const std::string& value) {
  double parsed = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, parsed);
  if (read.ec == std::errc() && read.ptr == end && std::isfinite(parsed) && parsed >= 0) return parsed;
  return Error(ErrorCode::kUsage,
               fmt::format("sets {} to '{}'; expected a number of at least 0", key, value));
}

Result<bool> truth(const std::string& key, const std::string& value) {
  if (value == "true") return true;
  if (value == "false") return false;
  return Error(ErrorCode::kUsage, fmt::format("sets {} to '{}'; expected true or false", key, value));
}

Status set(ParameterGroup& settings, const std::string& key, const std::string& value) {
  if (key == "learning_rate") {
    COHORT_ASSIGN_OR_RETURN(settings.learning_rate, number(key, value));
  } else if (key == "learning_rate_factor") {
    COHORT_ASSIGN_OR_RETURN(settings.learning_rate_factor, number(key, value));
  } else if (key == "weight_decay") {
    COHORT_ASSIGN_OR_RETURN(settings.weight_decay, number(key, value));
  } else if (key == "frozen") {
    COHORT_ASSIGN_OR_RETURN(settings.frozen, truth(key, value));
  } else if (key == "reducer") {
    settings.reducer = value;
  } else if (key == "synchronizer") {
    settings.synchronizer = value;
  } else {
    const std::vector<std::string> known = {"learning_rate", "learning_rate_factor", "weight_decay", "frozen",
                                            "reducer",       "synchronizer"};
    const auto meant = nearest(key, known);
    return Error(
        ErrorCode::kUsage,
        meant ? fmt::format("has an unknown setting '{}'; did you mean '{}'?", key, *meant)
              : fmt::format("has an unknown setting '{}'; the settings are {}", key, fmt::join(known, ", ")));
  }
  return {};
}

struct Assignment {
  std::string key;
  std::string value;
};

Assignment parse_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {std::string(text), "true"};
  return {std::string(trimmed(text.substr(0, equals))), std::string(trimmed(text.substr(equals + 1)))};
}

Status set_all(ParameterGroup& settings, std::string_view text) {
  std::vector<std::string> seen;
  for (const std::string& part : split(text)) {
    const Assignment assignment = parse_assignment(part);
    if (std::find(seen.begin(), seen.end(), assignment.key) != seen.end()) {
      return Error(ErrorCode::kUsage, fmt::format("sets {} twice", assignment.key));
    }
    if (part.empty()) return Error(ErrorCode::kUsage, "has an empty setting");
    COHORT_RETURN_IF_ERROR(set(settings, assignment.key, assignment.value));
    seen.push_back(assignment.key);
  }
  return {};
}

bool matches_any(const std::string& pattern, std::span<const std::string> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return update::matches(pattern, name); });
}

// The name, or the pattern of the beginning or end of a name, that is most similar to the pattern.
std::optional<std::string> meant_by(const std::string& pattern, std::span<const std::string> names) {
  std::vector<std::string> candidates(names.begin(), names.end());
  for (const std::string& name : names) {
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      candidates.push_back("*" + name.substr(dot));
      candidates.push_back(name.substr(0, dot + 1) + "*");
    }
  }
  return nearest(pattern, candidates);
}

Error matches_nothing(const std::string& pattern, std::span<const std::string> names) {
  Error error(ErrorCode::kUsage,
              fmt::format("pattern '{}' of TrainerOptions::groups matches no parameter", pattern));
  if (names.empty()) return error;
  if (const auto meant = meant_by(pattern, names)) {
    return error.with_remedy(fmt::format("Did you mean '{}'?", *meant));
  }
  constexpr std::size_t kShown = 8;
  const auto some = names.first(std::min(names.size(), kShown));
  return error.with_remedy(fmt::format("The parameters are {}{}.", fmt::join(some, ", "),
                                       some.size() < names.size() ? ", …" : ""));
}

// The index of the first group that matches; the number of groups if no group matches.
std::size_t first_match(std::span<const ParameterGroup> groups, const std::string& name) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::string& pattern : groups[i].patterns) {
      if (update::matches(pattern, name)) return i;
    }
  }
  return groups.size();
}

GroupSettings settings_in(const ParameterGroup& group) {
  return {.learning_rate = group.learning_rate,
          .weight_decay = group.weight_decay,
          .is_frozen = group.frozen,
          .reducer = group.reducer,
          .synchronizer = group.synchronizer,
          .learning_rate_factor = group.learning_rate_factor};
}

Status check_numbers(const ParameterGroup& group) {
  for (const auto& [name, value] :
       {std::pair("learning_rate", group.learning_rate), std::pair("weight_decay", group.weight_decay),
        std::pair("learning_rate_factor", group.learning_rate_factor)}) {
    if (!value || (std::isfinite(*value) && *value >= 0)) continue;
    return Error(ErrorCode::kUsage,
                 fmt::format("the parameter group '{}' has {} {}; expected a number of at least 0",
                             fmt::join(group.patterns, ", "), name, *value));
  }
  if (group.learning_rate && group.learning_rate_factor) {
    return Error(ErrorCode::kUsage,
                 fmt::format("the parameter group '{}' has a learning_rate and a learning_rate_factor",
                             fmt::join(group.patterns, ", ")))
        .with_remedy("Give one of them: learning_rate_factor is a multiple of the optimizer's.");
  }
  return {};
}

Error never_first(const ParameterGroup& group) {
  return Error(ErrorCode::kUsage,
               fmt::format(
                   "the group '{}' of TrainerOptions::groups has no effect: earlier groups match all of "
                   "its parameters",
                   fmt::join(group.patterns, ", ")))
      .with_remedy("The first group that matches a parameter counts: put the narrower pattern first.");
}

}  // namespace

Result<ParameterGroup> parse_group(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return mistake(text, "has no colon between patterns and settings");
  ParameterGroup group{.patterns = split(std::string_view(text).substr(0, colon))};
  if (std::any_of(group.patterns.begin(), group.patterns.end(), [](const auto& p) { return p.empty(); })) {
    return mistake(text, "has an empty pattern");
  }
  const Status done = set_all(group, std::string_view(text).substr(colon + 1));
  if (!done) return mistake(text, done.error().message());
  return group;
}

Result<std::vector<ParameterGroup>> parse_groups(std::span<const std::string> texts) {
  std::vector<ParameterGroup> groups;
  for (const std::string& text : texts) {
    COHORT_ASSIGN_OR_RETURN(ParameterGroup group, parse_group(text));
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string text_of(const ParameterGroup& group) {
  std::vector<std::string> settings;
  if (group.learning_rate) settings.push_back(fmt::format("learning_rate={}", *group.learning_rate));
  if (group.learning_rate_factor) {
    settings.push_back(fmt::format("learning_rate_factor={}", *group.learning_rate_factor));
  }
  if (group.weight_decay) settings.push_back(fmt::format("weight_decay={}", *group.weight_decay));
  if (group.reducer) settings.push_back(fmt::format("reducer={}", *group.reducer));
  if (group.synchronizer) settings.push_back(fmt::format("synchronizer={}", *group.synchronizer));
  if (group.frozen || settings.empty()) settings.push_back(fmt::format("frozen={}", group.frozen));
  return fmt::format("{}: {}", fmt::join(group.patterns, ", "), fmt::join(settings, ", "));
}

GroupSettings settings_of(std::span<const ParameterGroup> groups, const std::string& name) {
  const std::size_t found = first_match(groups, name);
  return found == groups.size() ? GroupSettings{} : settings_in(groups[found]);
}

Result<std::vector<GroupSettings>> settings_by_name(std::span<const ParameterGroup> groups,
                                                    std::span<const std::string> names) {
  for (const ParameterGroup& group : groups) {
    COHORT_RETURN_IF_ERROR(check_numbers(group));
    for (const std::string& pattern : group.patterns) {
      if (!matches_any(pattern, names)) return matches_nothing(pattern, names);
    }
  }
  std::vector<GroupSettings> settings;
  settings.reserve(names.size());
  std::vector<bool> is_used(groups.size(), false);
  for (const std::string& name : names) {
    const std::size_t found = first_match(groups, name);
    settings.push_back(found == groups.size() ? GroupSettings{} : settings_in(groups[found]));
    if (found < groups.size()) is_used[found] = true;
  }
  const auto unused = std::find(is_used.begin(), is_used.end(), false);
  if (unused == is_used.end()) return settings;
  return never_first(groups[static_cast<std::size_t>(unused - is_used.begin())]);
}

}  // namespace cohort
