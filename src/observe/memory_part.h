#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cohort::observe {

/// What one rank needs of memory for something.
struct MemoryPart {
  std::string what{};
  std::uint64_t bytes = 0;
};

std::uint64_t total_bytes(const std::vector<MemoryPart>& parts);
/// `[{"what": …, "bytes": …}, …]`.
nlohmann::ordered_json memory_json(const std::vector<MemoryPart>& parts);

}  // namespace cohort::observe
