#pragma once

#include "base/result.h"
#include "storage/file_system.h"
#include "train/parameters.h"

#include <map>
#include <string>

namespace cohort::train {

/// Writes all tensors of a module, in one step: the path holds the old file or the whole new one.
Status write_model(FileSystem& files, const std::string& path, const ModuleTensors& tensors,
                   const std::map<std::string, std::string>& facts);

/// Fills a module from such a file.
/// Failure: kUsage names the tensors that are missing, unknown, or of another shape; nothing is changed then.
Status read_model(FileSystem& files, const std::string& path, const ModuleTensors& tensors);

/// Of all parameters, in the order of the module.
std::string hash_of(const ModuleTensors& tensors);

}  // namespace cohort::train
