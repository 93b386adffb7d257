#include "base/units.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
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

struct Quantity {
  std::string_view number;
  double factor;
};

// The digits and the factor of the unit; nothing unless the text is a non-negative number and one of `units`.
std::optional<Quantity> split_quantity(std::string_view text, std::span<const Unit> units) {
  text = trimmed(text);
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view unit = trimmed(text.substr(end));
  for (const Unit& candidate : units) {
    if (candidate.name == unit && end > 0) return Quantity{text.substr(0, end), candidate.factor};
  }
  return std::nullopt;
}

// Multiplies a whole number exactly and rounds a fraction to the nearest whole number.
std::optional<std::uint64_t> multiplied(const Quantity& quantity) {
  const char* const begin = quantity.number.data();
  const char* const end = begin + quantity.number.size();
  const auto factor = static_cast<std::uint64_t>(quantity.factor);
  std::uint64_t whole = 0;
  std::uint64_t product = 0;
  const auto integer = std::from_chars(begin, end, whole);
  if (integer.ec == std::errc() && integer.ptr == end) {
    if (__builtin_mul_overflow(whole, factor, &product)) return std::nullopt;
    return product;
  }
  double number = 0;
  const auto real = std::from_chars(begin, end, number);
  const double rounded = std::nearbyint(number * quantity.factor);
  if (real.ec != std::errc() || real.ptr != end || factor == 1 || rounded >= 0x1p64) return std::nullopt;
  return static_cast<std::uint64_t>(rounded);
}

std::optional<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units) {
  const auto quantity = split_quantity(text, units);
  return quantity ? multiplied(*quantity) : std::nullopt;
}

std::string format_quantity(double value, std::span<const Unit> units) {
  const Unit* unit = &units.front();
  for (const Unit& candidate : units) {
    if (value >= candidate.factor) unit = &candidate;
  }
  const double number = value / unit->factor;
  const int decimals = number == std::floor(number) || number >= 100 ? 0 : number >= 10 ? 1 : 2;
  std::string digits = fmt::format("{:.{}f}", number, decimals);
  if (decimals > 0) digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return fmt::format("{} {}", digits, unit->name);
}

// Uses the largest unit that leaves no fraction.
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
  if (!bytes) {
    return Error(ErrorCode::kUsage, fmt::format("expected a number of bytes, found '{}'", text))
        .with_remedy("Write it like 4096, \"64 KiB\", \"1.5 GiB\" or \"2 GB\".");
  }
  return *bytes;
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
  if (!nanoseconds || *nanoseconds > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return Error(ErrorCode::kUsage, fmt::format("expected a duration with a unit, found '{}'", text))
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
