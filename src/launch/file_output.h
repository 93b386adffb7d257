#pragma once

#include "launch/rank_output.h"

#include <memory>
#include <string>

namespace cohort::launch {

/// Each stream of each rank to a file of its own: FOLDER/rank-0.out, FOLDER/rank-0.err, … The folder is made
/// if need be; files that are there are replaced.
Result<std::unique_ptr<RankOutput>> make_file_output(const std::string& folder, int ranks);

}  // namespace cohort::launch
