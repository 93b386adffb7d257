#include "base/units.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <span>

namespace cohort {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKi = 1024.0;
constexpr Unit kByteUnits[] = {{"", 1.0},
                               {"B", 1.0},
                               {"KiB", kKi},
                               {"MiB", kKi* kKi},
                               {"GiB", kKi* kKi* kKi},
                               {"TiB", kKi* kKi* kKi* kKi},
                               {"kB", 1e3},
                               {"KB", 1e3},
                               {"MB", 1e6},
                               {"GB", 1e9},
                               {"TB", 1e12}};
constexpr Unit kTimeUnits[] = {{"ns", 1.0}, {"us", 1e3},   {"µs", 1e3},   {"ms", 1e6},
                               {"s", 1e9},  {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The number times its unit, or nothing if the text is not a non-negative number followed by one of `units`.
std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units) {
  text = trimmed(text);
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || !(number >= 0) || std::isinf(number)) return std::nullopt;
  const std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  for (const Unit& candidate : units) {
    if (candidate.name == unit) return number * candidate.factor;
  }
  return std::nullopt;
}

std::string format_quantity(double value, std::span<const Unit> units) {
  const Unit* unit = &units.front();
  for (const Unit& candidate : units) {
    if (value >= candidate.factor) unit = &candidate;
  }
  const double number = value / unit->factor;
  if (number == std::floor(number)) return fmt::format("{:.0f} {}", number, unit->name);
  return fmt::format("{:.3g} {}", number, unit->name);
}

// The largest unit that leaves no fraction.
std::string exact_quantity(std::uint64_t value, std::span<const Unit> units) {
  const Unit* unit = &units.front();
  for (const Unit& candidate : units) {
    if (value != 0 && value % static_cast<std::uint64_t>(candidate.factor) == 0) unit = &candidate;
  }
  return fmt::format("{} {}", value / static_cast<std::uint64_t>(unit->factor), unit->name);
}

constexpr Unit kShownBytes[] = {{"B", 1.0}, kByteUnits[2], kByteUnits[3], kByteUnits[4], kByteUnits[5]};
constexpr Unit kShownTimes[] = {kTimeUnits[0], kTimeUnits[2], kTimeUnits[3],
                                kTimeUnits[4], kTimeUnits[5], kTimeUnits[6]};

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const auto bytes = parse_quantity(text, kByteUnits);
  if (!bytes || *bytes >= 0x1p64 || *bytes != std::floor(*bytes)) {
    return Error(ErrorCode::kUsage, fmt::format("'{}' is not a number of bytes", text))
        .with_remedy("Write it like 4096, \"64 KiB\", \"1.5 GiB\" or \"2 GB\".");
  }
  return static_cast<std::uint64_t>(*bytes);
}

std::string exact_bytes(std::uint64_t bytes) {
  return exact_quantity(bytes, kShownBytes);
}

std::string exact_duration(std::chrono::nanoseconds duration) {
  return exact_quantity(static_cast<std::uint64_t>(duration.count()), kShownTimes);
}

std::string format_bytes(std::uint64_t bytes) {
  return format_quantity(static_cast<double>(bytes), kShownBytes);
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto nanoseconds = parse_quantity(text, kTimeUnits);
  if (!nanoseconds || *nanoseconds >= 0x1p63) {
    return Error(ErrorCode::kUsage, fmt::format("'{}' is not a duration", text))
        .with_remedy("Write it like \"250ms\", \"30 s\", \"1.5 min\" or \"2 h\".");
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(*nanoseconds));
}

std::string format_duration(std::chrono::nanoseconds duration) {
  if (duration.count() == 0) return "0 s";
  if (duration.count() < 0) return "-" + format_duration(-duration);
  return format_quantity(static_cast<double>(duration.count()), kShownTimes);
}

}  // namespace cohort
