#pragma once

#include "base/result.h"
#include "launch/rank_variables.h"

#include <optional>
#include <string>
#include <string_view>

namespace cohort::launch {

/// Reads numbers out of environment variables.
///
/// Lifetime: the variables must outlive it.
/// Failure: kUsage with the variable, its value and what to do.
class VariableReader {
 public:
  explicit VariableReader(const EnvironmentVariables& variables) : variables_(variables) {}

  bool has(const std::string& name) const { return variables_.count(name) > 0; }
  /// Nothing if it is not set.
  std::optional<std::string> text(const std::string& name) const;
  /// A whole number from `least` on that fits an int. An absent variable is a mistake.
  Result<int> number(const std::string& name, int least) const;
  /// The same; nothing if the variable is absent.
  Result<std::optional<int>> number_if_set(const std::string& name, int least) const;

 private:
  const EnvironmentVariables& variables_;
};

/// `RANK=x`, as messages quote a variable.
std::string quoted(const std::string& name, std::string_view value);

}  // namespace cohort::launch
