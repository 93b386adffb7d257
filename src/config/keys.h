#pragma once

#include "config/key.h"

#include <span>
#include <string_view>
#include <vector>

namespace cohort::config {

/// The table: every key there is, section by section (keys_*.cpp). Parser, help, completion and reference
/// page all read it.
std::vector<Key> make_keys();

/// The row of `name`, or null.
const Key* find_key(std::span<const Key> keys, std::string_view name);

/// The names of all sections, in the order of the table.
std::vector<std::string> section_names(std::span<const Key> keys);

/// The part of a name before its last dot.
std::string_view section_of(std::string_view name);

/// The key somebody probably meant by `name`: a misspelling, or the right word in the wrong section.
std::optional<std::string> nearest_key(std::span<const Key> keys, std::string_view name);

}  // namespace cohort::config
