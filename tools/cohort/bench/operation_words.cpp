#include "bench/operation_words.h"

#include "base/nearest.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::tool {

using measure::BenchOperation;

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const BenchOperation operation : measure::kAllBenchOperations) names.emplace_back(name(operation));
  return names;
}

Error unknown_word(std::string_view what, const std::string& word, const std::vector<std::string>& known) {
  const auto meant = nearest(word, known);
  const std::string guess = meant ? fmt::format("Did you mean {}? ", *meant) : "";
  return Error(ErrorCode::kUsage, fmt::format("there is no {} '{}' to measure", what, word))
      .with_remedy(fmt::format("{}There are {}.", guess, fmt::join(known, ", ")));
}

Result<std::vector<BenchOperation>> parse_operations(const std::vector<std::string>& words) {
  std::vector<BenchOperation> operations;
  for (const std::string& word : words) {
    const auto operation = measure::bench_operation_named(word);
    if (!operation) return unknown_word("operation", word, operation_names());
    if (std::find(operations.begin(), operations.end(), *operation) == operations.end()) {
      operations.push_back(*operation);
    }
  }
  return operations;
}

}  // namespace cohort::tool
