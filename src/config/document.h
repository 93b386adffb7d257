#pragma once

#include "base/result.h"
#include "config/value.h"

#include <string>
#include <string_view>
#include <vector>

namespace cohort::config {

/// The leaves of a TOML text in the order they were written, keys joined with dots. A table that no leaf
/// stands in comes as an entry with an Other value, so that a misspelt empty section is seen too. Failure:
/// kUsage with file, line and what TOML expects.
Result<std::vector<Entry>> parse_document(std::string_view text, const std::string& file_name);

/// One `key=value` from the command line. The value is read as TOML where it is TOML, else as plain text.
Result<Entry> parse_override(const std::string& assignment);

}  // namespace cohort::config
