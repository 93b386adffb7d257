#pragma once

#include "base/result.h"
#include "measure/bench_operation.h"

#include <string>
#include <string_view>
#include <vector>

namespace cohort::tool {

/// The operations of these names, each once. kUsage with a guess for what is none.
Result<std::vector<measure::BenchOperation>> parse_operations(const std::vector<std::string>& words);
std::vector<std::string> operation_names();

/// That there is no `what` of this name, and which there are.
Error unknown_word(std::string_view what, const std::string& word, const std::vector<std::string>& known);

}  // namespace cohort::tool
