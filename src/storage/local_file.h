#pragma once

#include "storage/file_system.h"

namespace cohort::storage {

enum class WriteStart { kNew, kEmpty, kAtEnd };

/// Opens an existing file of this machine.
Result<std::unique_ptr<ReadableFile>> open_local_to_read(const std::string& path);
/// Opens a file of this machine, or makes it.
Result<std::unique_ptr<WritableFile>> open_local_to_write(const std::string& path, WriteStart start);

}  // namespace cohort::storage
