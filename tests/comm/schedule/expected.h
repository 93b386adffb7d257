#pragma once

#include "comm/schedule/algorithm.h"
#include "terms.h"

#include <string_view>
#include <vector>

namespace cohort::comm {

/// The combination of all ranks' element `index` in the order that the algorithm documents. Written a second
/// time here, from the documentation and not from the code.
Terms::Term expected_sum(Terms& terms, std::string_view algorithm, const CallFacts& facts, std::size_t index);

/// The final output of one rank; only for ranks that have an output.
std::vector<Terms::Term> expected_output(Terms& terms, std::string_view algorithm, const CallFacts& facts);

/// The lengths of one rank's input and output.
std::size_t input_count(const CallFacts& facts);
std::size_t output_count(const CallFacts& facts);

}  // namespace cohort::comm
