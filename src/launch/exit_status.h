#pragma once

#include <optional>
#include <string>

namespace cohort {

/// How a process ended: exactly one of the two is there.
struct ExitStatus {
  std::optional<int> code{};    ///< what it returned from main or gave to exit
  std::optional<int> signal{};  ///< what killed it

  bool is_success() const { return code == 0; }
  /// `exited with 3`, `was killed by signal 9 (SIGKILL)`.
  std::string text() const;

  bool operator==(const ExitStatus&) const = default;
};

}  // namespace cohort
