#pragma once

#include "interchange/name_rules.h"

#include <cohort/dtype.h>
#include <cohort/slice.h>

namespace cohort::interchange {

/// A tensor without its elements.
struct TensorFacts {
  std::string name{};
  DType dtype = DType::kF32;
  Shape shape{};
};

/// The outcome of mapping the names of a file to the names of a model or an optimizer.
struct NameReport {
  struct Match {
    std::string from{};  ///< in the file
    std::string to{};    ///< equal to `from` if it was not renamed
  };
  struct Difference {
    Match names{};
    std::string found{};     ///< in the file: `f32 [3, 4]`
    std::string expected{};  ///< in the target
  };

  std::vector<Match> matched{};           ///< with equal type and shape
  std::vector<Difference> differing{};    ///< found on both sides, with another type or shape
  std::vector<Match> unused{};            ///< in the file alone
  std::vector<std::string> missing{};     ///< in the target alone
  std::vector<Match> clashing{};          ///< renamed to a name that a tensor before it has
  std::vector<std::string> idle_rules{};  ///< rules that matched no name

  /// Whether every tensor of the target is matched, by one tensor of the file.
  bool is_complete() const { return differing.empty() && missing.empty() && clashing.empty(); }
  /// The report for people: a line of numbers, then a line for each name that is not plainly matched.
  std::string text() const;
};

/// Applies the rules to the tensors of a file and compares the result with the tensors of a target.
///
///     const NameReport report = map_names(rules, in_file, in_model);
///     if (!report.is_complete()) throw UsageError(report.text());
NameReport map_names(const NameRules& rules, std::span<const TensorFacts> file,
                     std::span<const TensorFacts> target);

}  // namespace cohort::interchange
