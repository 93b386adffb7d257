#pragma once

#include "base/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cohort {

using EnvironmentVariables = std::map<std::string, std::string>;

/// A copy of the environment of this process.
///
/// Threads: not while another thread changes the environment.
EnvironmentVariables own_environment();

}  // namespace cohort

namespace cohort::launch {

/// Reads values of environment variables.
///
/// Lifetime: the variables must outlive the reader.
/// Failure: kUsage with the variable, its value and a remedy.
class VariableReader {
 public:
  explicit VariableReader(const EnvironmentVariables& variables) : variables_(variables) {}

  bool has(const std::string& name) const { return variables_.count(name) > 0; }
  /// Empty if the variable is not set.
  std::optional<std::string> text(const std::string& name) const;
  /// A whole number of at least `least` that fits an int. An absent variable is an error.
  Result<int> number(const std::string& name, int least) const;
  /// Like number(), but empty if the variable is absent.
  Result<std::optional<int>> number_if_set(const std::string& name, int least) const;

 private:
  const EnvironmentVariables& variables_;
};

/// A variable as messages quote it: `RANK=x`.
std::string quoted(const std::string& name, std::string_view value);

}  // namespace cohort::launch
