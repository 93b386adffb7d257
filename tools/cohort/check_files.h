#pragma once

#include "config/load.h"
#include "storage/file_system.h"

#include <string>
#include <vector>

namespace cohort::tool {

/// Reads the files that a job names, as its ranks will: the data, the test data and the initial weights; and
/// looks whether the folder of a training run can be created and written to. Each mistake has the location of
/// the key, or `file` for a key that is not set, and the path. Creates nothing.
///
/// Cost: reads these files whole.
std::vector<std::string> check_files(FileSystem& files, const config::Loaded& job, const std::string& file);

}  // namespace cohort::tool
