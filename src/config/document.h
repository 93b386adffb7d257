#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cohort::config {

/// A value of a file or command line, before it is checked against its key.
struct Value {
  /// Values of TOML that no key takes: dates, tables, lists of anything but text or numbers.
  struct Other {
    std::string description;
  };
  using TextList = std::vector<std::string>;  ///< also an empty list
  using WholeList = std::vector<std::int64_t>;
  using RealList = std::vector<double>;  ///< at least one of them has a fraction

  std::variant<bool, std::int64_t, double, std::string, TextList, WholeList, RealList, Other> data;
  std::string written;  ///< its text, for messages: `"two"`, `0`, `[1, 2]`
};

/// A key, its value, and the location of both: `job.toml:4` or `--set launch.ranks=2`.
struct Entry {
  std::string key;
  Value value;
  std::string location;
};

/// The values of a TOML text in the order of the text, with the parts of their keys joined by dots. An empty
/// table is an entry with a Value::Other, so that a misspelt empty section is found, too.
///
/// Failure: kUsage with file, line and the reason of the parser.
Result<std::vector<Entry>> parse_document(std::string_view text, const std::string& file_name);

/// A `key=value` of the command line. The value is parsed as TOML; if it is not TOML, it is text.
Result<Entry> parse_override(const std::string& assignment);

}  // namespace cohort::config
