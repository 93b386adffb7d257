#include "launch/own_environment.h"

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
