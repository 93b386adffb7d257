#include "base/units.h"
#include "config/key_reading.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace cohort::config {
namespace {

// Sizes and durations are text with a unit. A size may also be a number of bytes.
template <class T, class Parse>
Result<T> read_quantity(const Value& value, Range<T> range, Parse parse) {
  std::string text;
  if (const auto* written = std::get_if<std::string>(&value.data)) {
    text = *written;
  } else if (std::holds_alternative<std::int64_t>(value.data)) {
    text = std::to_string(std::get<std::int64_t>(value.data));
  } else {
    return wrong_kind(value);
  }
  const Result<T> parsed = parse(text);
  if (!parsed) return Error(ErrorCode::kUsage, "cannot be read").with_remedy(parsed.error().remedy());
  if (!is_inside(*parsed, range)) return out_of_range();
  return *parsed;
}

}  // namespace

Key size(std::string name, const Field<std::uint64_t>& field, std::uint64_t fallback,
         Range<std::uint64_t> range, std::string help) {
  return {.name = std::move(name),
          .type = "size",
          .allowed = fmt::format("a size from {} to {}", format_bytes(range.least), format_bytes(range.most)),
          .fallback = quoted(exact_bytes(fallback)),
          .help = std::move(help),
          .choices = {},
          .read = reader<std::uint64_t>(field,
                                        [range](const Value& value) {
                                          return read_quantity<std::uint64_t>(value, range, parse_bytes);
                                        }),
          .show = [field](const Config& config) { return quoted(exact_bytes(field(config))); }};
}

Key size_or_auto(std::string name, const Field<std::optional<std::uint64_t>>& field,
                 Range<std::uint64_t> range, std::string help) {
  const auto parse = [range](const Value& value) -> Result<std::optional<std::uint64_t>> {
    if (is_auto(value)) return std::optional<std::uint64_t>();
    COHORT_ASSIGN_OR_RETURN(const std::uint64_t bytes,
                            read_quantity<std::uint64_t>(value, range, parse_bytes));
    return std::optional(bytes);
  };
  const std::string chosen = quoted(std::string(kAuto));
  return {.name = std::move(name),
          .type = "size",
          .allowed = fmt::format("{}, or a size from {} to {}", chosen, format_bytes(range.least),
                                 format_bytes(range.most)),
          .fallback = chosen,
          .help = std::move(help),
          .choices = {},
          .read = reader<std::optional<std::uint64_t>>(field, parse),
          .show = [field, chosen](const Config& config) {
            const std::optional<std::uint64_t> bytes = field(config);
            return bytes ? quoted(exact_bytes(*bytes)) : chosen;
          }};
}

Key duration(std::string name, const Field<std::chrono::nanoseconds>& field,
             std::chrono::nanoseconds fallback, Range<std::chrono::nanoseconds> range, std::string help) {
  const auto parse = [range](const Value& value) {
    return read_quantity<std::chrono::nanoseconds>(value, range, parse_duration);
  };
  return {.name = std::move(name),
          .type = "duration",
          .allowed = fmt::format("a duration from {} to {}", format_duration(range.least),
                                 format_duration(range.most)),
          .fallback = quoted(exact_duration(fallback)),
          .help = std::move(help),
          .choices = {},
          .read = reader<std::chrono::nanoseconds>(field, parse),
          .show = [field](const Config& config) { return quoted(exact_duration(field(config))); }};
}

Key optional_duration(std::string name, const Field<std::optional<std::chrono::nanoseconds>>& field,
                      Range<std::chrono::nanoseconds> range, const std::string& example, std::string help) {
  const auto parse = [range](const Value& value) -> Result<std::optional<std::chrono::nanoseconds>> {
    COHORT_ASSIGN_OR_RETURN(const auto time,
                            read_quantity<std::chrono::nanoseconds>(value, range, parse_duration));
    return std::optional(time);
  };
  return {.name = std::move(name),
          .type = "duration",
          .allowed = fmt::format("a duration from {} to {}", format_duration(range.least),
                                 format_duration(range.most)),
          .fallback = "",
          .help = std::move(help),
          .choices = {},
          .read = reader<std::optional<std::chrono::nanoseconds>>(field, parse),
          .show =
              [field](const Config& config) {
                const auto& time = field(config);
                return time ? quoted(exact_duration(*time)) : std::string();
              },
          .example = example};
}

namespace {

// `500 steps`, `1 step`; nothing for a text that does not count steps.
std::optional<Result<Interval>> read_steps(const std::string& text) {
  const auto unit = text.find_first_not_of("0123456789");
  if (unit == std::string::npos || unit == 0) return std::nullopt;
  const std::string word = text.substr(std::min(text.find_first_not_of(' ', unit), text.size()));
  if (word != "step" && word != "steps") return std::nullopt;
  std::int64_t steps = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + unit, steps);
  if (failure != std::errc{} || steps < 1) return Error(ErrorCode::kUsage, "must be at least 1 step");
  return Interval{.steps = steps};
}

Result<std::optional<Interval>> read_interval(const Value& value) {
  const auto* const text = std::get_if<std::string>(&value.data);
  if (text == nullptr) return wrong_kind(value);
  if (const auto steps = read_steps(*text)) {
    COHORT_ASSIGN_OR_RETURN(const Interval interval, *steps);
    return std::optional(interval);
  }
  using namespace std::chrono_literals;
  const Range<std::chrono::nanoseconds> range{1ms, std::chrono::hours(24 * 365)};
  COHORT_ASSIGN_OR_RETURN(const auto time,
                          read_quantity<std::chrono::nanoseconds>(value, range, parse_duration));
  return std::optional(Interval{.time = time});
}

}  // namespace

Key interval(std::string name, const Field<std::optional<Interval>>& field, const std::string& example,
             std::string help) {
  return {.name = std::move(name),
          .type = "steps or duration",
          .allowed = "a number of steps such as \"500 steps\", or a duration such as \"10 min\"",
          .fallback = "",
          .help = std::move(help),
          .choices = {},
          .read = reader<std::optional<Interval>>(field, read_interval),
          .show =
              [field](const Config& config) {
                const std::optional<Interval>& interval = field(config);
                if (!interval) return std::string();
                if (interval->steps) return quoted(fmt::format("{} steps", *interval->steps));
                return quoted(exact_duration(*interval->time));
              },
          .example = example};
}

}  // namespace cohort::config
