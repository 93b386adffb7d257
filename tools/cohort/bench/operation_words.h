#pragma once

#include "base/result.h"
#include "measure/bench_operation.h"

#include <string>
#include <string_view>
#include <vector>

namespace cohort::tool {

/// The operations of these names, without repetition.
/// Failure: kUsage for an unknown name, with the nearest known name.
Result<std::vector<measure::BenchOperation>> parse_operations(const std::vector<std::string>& words);
std::vector<std::string> operation_names();

/// The error for an unknown name: `what` is the kind of thing, `known` are the existing names.
Error unknown_word(std::string_view what, const std::string& word, const std::vector<std::string>& known);

}  // namespace cohort::tool
