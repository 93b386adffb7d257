#pragma once

#include "machine/fact.h"
#include "machine/sources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cohort::machine {

/// The memory, and how much of it this process may use.
struct Memory {
  Fact<std::uint64_t> total_bytes;
  Fact<std::uint64_t> available_bytes;  ///< without swapping anything out
  Fact<std::uint64_t> swap_total_bytes;
  Fact<std::uint64_t> swap_free_bytes;
  Fact<std::optional<std::uint64_t>> limit_bytes;  ///< by control group; none: no limit
};

/// What a job may take now: what is available (or else all there is), at most the limit. Nothing if neither
/// is known.
std::optional<std::uint64_t> usable_bytes(const Memory& memory);

/// The bytes of one line, such as `MemTotal:  24682416 kB`, of the text of /proc/meminfo.
Result<std::uint64_t> parse_memory_line(std::string_view meminfo, std::string_view key);

Memory survey_memory(const ReadText& read);

}  // namespace cohort::machine
