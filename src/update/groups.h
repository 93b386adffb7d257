#pragma once

#include "base/result.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cohort {

/// What a group of parameters has of its own; the rest is as for all others.
struct GroupSettings {
  std::optional<double> learning_rate;
  std::optional<double> weight_decay;
  bool is_frozen = false;  ///< never updated, and needs no gradient

  bool operator==(const GroupSettings&) const = default;
};

/// Parameters by the patterns of their names, and what they have of their own.
struct Group {
  std::vector<std::string> patterns;
  GroupSettings settings;
};

/// `*.bias, norm?.*: weight_decay=0, learning_rate=1e-4`, `embedding.*: frozen`: patterns, a colon, settings.
/// The settings are learning_rate, weight_decay and frozen (alone, or =true, =false).
///
/// Failure: kUsage, quoting the group.
Result<Group> parse_group(const std::string& text);
Result<std::vector<Group>> parse_groups(std::span<const std::string> texts);

/// What the parameter of this name has of its own, by the first group that matches.
GroupSettings settings_of(std::span<const Group> groups, const std::string& name);

/// What each of the parameters with these names has of its own, in their order: the first group with a
/// pattern that matches the name decides; `*` stands for any letters, `?` for one.
///
/// Failure: kUsage for a pattern that matches no name at all, and for a group that decides nothing.
Result<std::vector<GroupSettings>> settings_by_name(std::span<const Group> groups,
                                                    std::span<const std::string> names);

}  // namespace cohort
