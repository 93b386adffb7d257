#include "launch/variable_reader.h"

#include <charconv>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace cohort {

EnvironmentVariables own_environment() {
  EnvironmentVariables variables;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace cohort

namespace cohort::launch {

std::string quoted(const std::string& name, std::string_view value) {
  return fmt::format("{}='{}'", name, value);
}

std::optional<std::string> VariableReader::text(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  return found->second;
}

Result<int> VariableReader::number(const std::string& name, int least) const {
  const auto value = text(name);
  if (!value) {
    return Error(ErrorCode::kUsage, fmt::format("the environment variable {} is missing", name))
        .with_remedy(
            "Start the program with one launcher (`cohort run -n 2 ./program`), or set all of the launcher's "
            "variables.");
  }
  int number = 0;
  const auto [end, failure] = std::from_chars(value->data(), value->data() + value->size(), number);
  const bool is_number = failure == std::errc() && end == value->data() + value->size();
  if (is_number && number >= least) return number;
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, which is not a whole number of {} or more",
                           quoted(name, *value), least))
      .with_remedy(
          fmt::format("Unset {} if it was set by hand, or start the program with a launcher.", name));
}

Result<std::optional<int>> VariableReader::number_if_set(const std::string& name, int least) const {
  if (!has(name)) return std::optional<int>();
  COHORT_ASSIGN_OR_RETURN(const int value, number(name, least));
  return std::optional<int>(value);
}

}  // namespace cohort::launch
