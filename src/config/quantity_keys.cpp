#include "base/units.h"
#include "config/key_reading.h"

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

}  // namespace cohort::config
