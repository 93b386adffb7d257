#pragma once

#include "base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace cohort {

inline constexpr std::uint64_t kKiB = 1ull << 10;
inline constexpr std::uint64_t kMiB = 1ull << 20;
inline constexpr std::uint64_t kGiB = 1ull << 30;
inline constexpr std::uint64_t kTiB = 1ull << 40;

/// The number of bytes in a text such as `1536`, `64 KiB`, `1.5 GiB` or `2 GB`. A fraction needs a unit and
/// is rounded to a whole number of bytes.
Result<std::uint64_t> parse_bytes(std::string_view text);
/// A short form with up to three digits, for people: `0 B`, `64 KiB`, `1.46 GiB`.
std::string format_bytes(std::uint64_t bytes);

/// A form that parse_bytes() turns into exactly the same number: `1536 MiB`, `4097 B`.
std::string exact_bytes(std::uint64_t bytes);

/// The duration in a text such as `250ms`, `30 s`, `1.5 min` or `2 h`. The unit is required.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);
/// A short form for people: `0 s`, `1.5 µs`, `500 ms`, `30 s`, `2 min`.
std::string format_duration(std::chrono::nanoseconds duration);
/// A form that parse_duration() turns into exactly the same duration, which must not be negative: `90 s`,
/// `1500 ms`.
std::string exact_duration(std::chrono::nanoseconds duration);

}  // namespace cohort
