#include "observe/memory_part.h"

namespace cohort::observe {

std::uint64_t total_bytes(const std::vector<MemoryPart>& parts) {
  std::uint64_t bytes = 0;
  for (const MemoryPart& part : parts) bytes += part.bytes;
  return bytes;
}

nlohmann::ordered_json memory_json(const std::vector<MemoryPart>& parts) {
  auto list = nlohmann::ordered_json::array();
  for (const MemoryPart& part : parts) list.push_back({{"what", part.what}, {"bytes", part.bytes}});
  return list;
}

}  // namespace cohort::observe
