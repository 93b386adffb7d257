#pragma once

#include "machine/diagnose.h"

#include <string>
#include <vector>

namespace cohort::machine {

/// The text on one line, shortened to kLongestFound characters with `…` at the end.
std::string fitted(std::string text);

/// Collects findings in the order in which checks report them.
///
/// Threads: one at a time.
class Findings {
 public:
  void fine(std::string topic, std::string found);
  void note(std::string topic, std::string found, std::string remedy);
  void warning(std::string topic, std::string found, std::string remedy);
  void problem(std::string topic, std::string found, std::string remedy);
  /// A note that a fact could not be read, with the reason.
  void unknown(std::string topic, const Error& reason);

  std::vector<Finding> take() && { return std::move(findings_); }

 private:
  void add(std::string topic, Severity severity, std::string found, std::string remedy);

  std::vector<Finding> findings_;
};

}  // namespace cohort::machine
