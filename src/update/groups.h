#pragma once

#include "base/result.h"
#include <cohort/parameter_group.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::update {

/// Whether the pattern matches the whole name: `*` matches any number of characters, `?` exactly one.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace cohort::update

namespace cohort {

/// The settings of a parameter by its group; those that are not set are the settings of the optimizer.
struct GroupSettings {
  std::optional<double> learning_rate;
  std::optional<double> weight_decay;
  bool is_frozen = false;  ///< no gradient is computed and no update is made
  std::optional<std::string> reducer{};
  std::optional<std::string> synchronizer{};
  std::optional<double> learning_rate_factor{};

  bool operator==(const GroupSettings&) const = default;
};

/// Parses a group: patterns, a colon, settings, as in `*.bias, norm?.*: weight_decay=0, learning_rate=1e-4`
/// or `embedding.*: frozen`. The settings are learning_rate or learning_rate_factor, weight_decay, frozen
/// (alone, or =true, =false), reducer and synchronizer.
///
/// Failure: kUsage, quoting the group.
Result<ParameterGroup> parse_group(const std::string& text);
Result<std::vector<ParameterGroup>> parse_groups(std::span<const std::string> texts);

/// The group in the form that parse_group() takes.
std::string text_of(const ParameterGroup& group);

/// The settings of the first group that matches the parameter of this name.
GroupSettings settings_of(std::span<const ParameterGroup> groups, const std::string& name);

/// The settings of each of these parameters, in their order, by the first group that matches.
///
/// Failure: kUsage for a pattern that matches no name, for a group that is the first match of no parameter,
/// and for a setting that is negative or not finite.
Result<std::vector<GroupSettings>> settings_by_name(std::span<const ParameterGroup> groups,
                                                    std::span<const std::string> names);

}  // namespace cohort
