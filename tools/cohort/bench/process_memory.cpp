#include "bench/process_memory.h"

#include "storage/local_file_system.h"
#include "storage/whole_file.h"

#include <charconv>
#include <fmt/format.h>
#include <string_view>

namespace cohort::tool {
namespace {

// The kernel writes `Name:   123 kB`.
Result<std::uint64_t> bytes_at(const std::string& file, std::string_view name) {
  LocalFileSystem files;
  COHORT_ASSIGN_OR_RETURN(const std::string text, read_file(files, file));
  const std::string key = fmt::format("\n{}:", name);
  const auto place = text.find(key);
  if (place == std::string::npos) {
    return Error(ErrorCode::kNotFound, fmt::format("'{}' has no line {}", file, name));
  }
  const auto digits = text.find_first_not_of(" \t", place + key.size());
  std::uint64_t kibibytes = 0;
  if (digits == std::string::npos ||
      std::from_chars(text.data() + digits, text.data() + text.size(), kibibytes).ec != std::errc()) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' has no number in its line {}", file, name));
  }
  return kibibytes * 1024;
}

}  // namespace

Result<MemoryUse> memory_of(pid_t process) {
  MemoryUse use;
  COHORT_ASSIGN_OR_RETURN(use.peak_bytes, bytes_at(fmt::format("/proc/{}/status", process), "VmHWM"));
  COHORT_ASSIGN_OR_RETURN(use.proportional_bytes,
                          bytes_at(fmt::format("/proc/{}/smaps_rollup", process), "Pss"));
  return use;
}

}  // namespace cohort::tool
