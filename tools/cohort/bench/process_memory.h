#pragma once

#include "base/result.h"
#include "bench/group_processes.h"

#include <sys/types.h>

namespace cohort::tool {

/// What a running process takes, by the kernel's own count.
Result<MemoryUse> memory_of(pid_t process);

}  // namespace cohort::tool
