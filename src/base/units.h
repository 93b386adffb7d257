#pragma once

#include "base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace cohort {

/// `1536` bytes, `64 KiB`, `1.5 GiB`, `2 GB`: a whole number of bytes comes out.
Result<std::uint64_t> parse_bytes(std::string_view text);
/// The shortest exact or three-digit form: `0 B`, `64 KiB`, `1.46 GiB`.
std::string format_bytes(std::uint64_t bytes);

/// As one would write it to have exactly this many bytes again: `1536 MiB`, `4097 B`.
std::string exact_bytes(std::uint64_t bytes);

/// `250ms`, `30 s`, `1.5 min`, `2 h`; a unit is required.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);
/// `0 s`, `1.5 µs`, `500 ms`, `30 s`, `2 min`.
std::string format_duration(std::chrono::nanoseconds duration);
/// As one would write it to have exactly this duration again: `90 s`, `1500 ms`. Not for negative ones.
std::string exact_duration(std::chrono::nanoseconds duration);

}  // namespace cohort
