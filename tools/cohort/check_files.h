#pragma once

#include "config/load.h"
#include "storage/file_system.h"

#include <string>
#include <vector>

namespace cohort::tool {

/// Reads the files that a job names, as its ranks will: the data, the test data and the initial weights. Each
/// mistake has the location of the key, and the path.
///
/// Cost: reads these files whole.
std::vector<std::string> check_files(FileSystem& files, const config::Loaded& job);

}  // namespace cohort::tool
