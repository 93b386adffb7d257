#include "machine/survey_parts.h"

#include "machine/cgroup.h"
#include "machine/kernel_text.h"

#include <algorithm>
#include <limits>

namespace cohort::machine {

std::optional<std::uint64_t> usable_bytes(const Memory& memory) {
  std::optional<std::uint64_t> bytes;
  if (memory.available_bytes) {
    bytes = *memory.available_bytes;
  } else if (memory.total_bytes) {
    bytes = *memory.total_bytes;
  }
  const bool limited = memory.limit_bytes && *memory.limit_bytes;
  if (bytes && limited) bytes = std::min(*bytes, **memory.limit_bytes);
  return bytes;
}

Result<std::uint64_t> parse_memory_line(std::string_view meminfo, std::string_view key) {
  const auto value = field(meminfo, key, ':');
  if (!value) return Error(ErrorCode::kUnsupported, fmt::format("the line '{}' is missing", key));
  const auto words = words_of(*value);
  if (words.size() != 2 || words[1] != "kB") {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' is '{}', expected a number of kB", key, *value));
  }
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t kibibytes, parse_count(words[0]));
  if (kibibytes > std::numeric_limits<std::uint64_t>::max() / 1024) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' is more than 2^64 bytes", key));
  }
  return kibibytes * 1024;
}

Memory survey_memory(const ReadText& read) {
  const auto line = [&](std::string_view key) {
    return parsed(read, "/proc/meminfo",
                  [key](std::string_view meminfo) { return parse_memory_line(meminfo, key); });
  };
  return {.total_bytes = line("MemTotal"),
          .available_bytes = line("MemAvailable"),
          .swap_total_bytes = line("SwapTotal"),
          .swap_free_bytes = line("SwapFree"),
          .limit_bytes = cgroup_memory_limit(read)};
}

}  // namespace cohort::machine
