#pragma once

#include "base/result.h"
#include "state/safetensors.h"
#include "storage/file_system.h"
#include "train/module_tensors.h"

#include <map>
#include <string>

namespace cohort::train {

/// Writes all tensors of a module, atomically: the path holds the old file or the whole new file.
Status write_model(FileSystem& files, const std::string& path, const ModuleTensors& tensors,
                   const std::map<std::string, std::string>& facts);

/// Copies the tensors of such a file into a module.
///
/// Failure: kUsage names a tensor that is missing, unknown or of another shape; then the module is unchanged.
Status read_model(FileSystem& files, const std::string& path, const ModuleTensors& tensors);

/// The same for a file that is open; `path` is its name in errors.
Status read_model(const SafetensorsFile& file, const std::string& path, const ModuleTensors& tensors);

/// The hash of all parameters, in the order of the module.
std::string hash_of(const ModuleTensors& tensors);

}  // namespace cohort::train
