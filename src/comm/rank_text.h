#pragma once

#include <span>
#include <string>

namespace cohort::comm {

/// `rank 1`, `ranks 1 and 3`, `ranks 0, 2 and 3`; long lists are cut: `ranks 0, 1, 2, 3, 4, 5 and 26 more`.
std::string ranks_text(std::span<const int> ranks);
/// The same as the beginning of a sentence: `rank 1 has`, `ranks 1 and 3 have`.
std::string ranks_have(std::span<const int> ranks);

}  // namespace cohort::comm
