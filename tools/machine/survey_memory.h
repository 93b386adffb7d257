#pragma once

#include "machine/sources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cohort::machine {

/// The memory, and the part of it that this process may use.
struct Memory {
  Fact<std::uint64_t> total_bytes;
  Fact<std::uint64_t> available_bytes;  ///< without swapping
  Fact<std::uint64_t> swap_total_bytes;
  Fact<std::uint64_t> swap_free_bytes;
  Fact<std::optional<std::uint64_t>> limit_bytes;  ///< memory limit of the control group; empty: no limit
};

/// The memory that a job may use now: the available memory (or else the total), at most the limit. Empty if
/// neither is known.
std::optional<std::uint64_t> usable_bytes(const Memory& memory);

/// The bytes of one line of /proc/meminfo, such as `MemTotal:  24682416 kB`.
Result<std::uint64_t> parse_memory_line(std::string_view meminfo, std::string_view key);

Memory survey_memory(const ReadText& read);

}  // namespace cohort::machine
