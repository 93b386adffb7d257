#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cohort::config {

/// A value as somebody wrote it, before anything is known about its key.
struct Value {
  /// What TOML can hold and no key takes: dates, tables, lists of anything but text or whole numbers.
  struct Other {
    std::string description;
  };
  using TextList = std::vector<std::string>;  ///< an empty list of anything too
  using WholeList = std::vector<std::int64_t>;

  std::variant<bool, std::int64_t, double, std::string, TextList, WholeList, Other> data;
  std::string written;  ///< for messages: `"two"`, `0`, `[1, 2]`
};

/// Where a value was written: `job.toml:4` or `--set launch.ranks=2`.
struct Entry {
  std::string key;
  Value value;
  std::string place;
};

}  // namespace cohort::config
