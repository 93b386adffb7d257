#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

namespace cohort::machine {

/// How large a file system is, and how much of it an ordinary user may still fill.
struct Space {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
};

/// The space of the file system that holds `path`.
Result<Space> space_of(const std::string& path);

}  // namespace cohort::machine
