#include "config/key.h"

#include "base/nearest.h"
#include "base/units.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::config {
namespace {

std::string_view kind_of(const Value& value) {
  struct Visitor {
    std::string_view operator()(bool) const { return "a truth value"; }
    std::string_view operator()(std::int64_t) const { return "a whole number"; }
    std::string_view operator()(double) const { return "a number with a fraction"; }
    std::string_view operator()(const std::string&) const { return "text"; }
    std::string_view operator()(const Value::TextList&) const { return "a list"; }
    std::string_view operator()(const Value::Other& other) const { return other.description; }
  };
  return std::visit(Visitor{}, value.data);
}

Error wrong_kind(const Value& value) {
  return {ErrorCode::kUsage, fmt::format("is {}", kind_of(value))};
}

Error out_of_range() {
  return {ErrorCode::kUsage, "is out of range"};
}

template <class T>
bool inside(const T& value, const Range<T>& range) {
  return value >= range.least && value <= range.most;
}

Result<int> read_whole(const Value& value, Range<int> range) {
  const auto* number = std::get_if<std::int64_t>(&value.data);
  if (number == nullptr) return wrong_kind(value);
  if (*number < range.least || *number > range.most) return out_of_range();
  return static_cast<int>(*number);
}

// Sizes and durations are written as text with a unit; a bare number of bytes is fine too.
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
  if (!inside(*parsed, range)) return out_of_range();
  return *parsed;
}

template <class T>
std::function<Status(const Value&, Config&)> reader(Field<T> field,
                                                    std::function<Result<T>(const Value&)> parse) {
  return [field = std::move(field), parse = std::move(parse)](const Value& value, Config& config) -> Status {
    COHORT_ASSIGN_OR_RETURN(field(config), parse(value));
    return {};
  };
}

// A basic string of TOML.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string list_text(const std::vector<std::string>& items) {
  std::vector<std::string> written;
  for (const std::string& item : items) written.push_back(quoted(item));
  return fmt::format("[{}]", fmt::join(written, ", "));
}

}  // namespace

Key flag(std::string name, const Field<bool>& field, bool fallback, std::string help) {
  const auto text = [](bool value) { return value ? "true" : "false"; };
  return {.name = std::move(name),
          .type = "flag",
          .allowed = "true or false",
          .fallback = text(fallback),
          .help = std::move(help),
          .choices = {"true", "false"},
          .read = reader<bool>(field,
                               [](const Value& value) -> Result<bool> {
                                 if (const auto* set = std::get_if<bool>(&value.data)) return *set;
                                 return wrong_kind(value);
                               }),
          .show = [field, text](const Config& config) { return std::string(text(field(config))); }};
}

Key whole_number(std::string name, const Field<int>& field, int fallback, Range<int> range,
                 std::string help) {
  return {.name = std::move(name),
          .type = "whole number",
          .allowed = fmt::format("a whole number from {} to {}", range.least, range.most),
          .fallback = std::to_string(fallback),
          .help = std::move(help),
          .choices = {},
          .read = reader<int>(field, [range](const Value& value) { return read_whole(value, range); }),
          .show = [field](const Config& config) { return std::to_string(field(config)); }};
}

Key optional_whole_number(std::string name, const Field<std::optional<int>>& field, Range<int> range,
                          std::string help) {
  return {.name = std::move(name),
          .type = "whole number",
          .allowed = fmt::format("a whole number from {} to {}", range.least, range.most),
          .fallback = "",
          .help = std::move(help),
          .choices = {},
          .read = reader<std::optional<int>>(field,
                                             [range](const Value& value) -> Result<std::optional<int>> {
                                               COHORT_ASSIGN_OR_RETURN(const int number,
                                                                       read_whole(value, range));
                                               return std::optional(number);
                                             }),
          .show = [field](const Config& config) {
            const std::optional<int> value = field(config);
            return value ? std::to_string(*value) : std::string();
          }};
}

Key real_number(std::string name, const Field<double>& field, double fallback, Range<double> range,
                std::string help) {
  const auto parse = [range](const Value& value) -> Result<double> {
    double number = std::nan("");
    if (const auto* real = std::get_if<double>(&value.data)) {
      number = *real;
    } else if (const auto* whole = std::get_if<std::int64_t>(&value.data)) {
      number = static_cast<double>(*whole);
    } else {
      return wrong_kind(value);
    }
    if (!inside(number, range)) return out_of_range();  // a NaN is inside nothing
    return number;
  };
  return {.name = std::move(name),
          .type = "number",
          .allowed = fmt::format("a number from {} to {}", range.least, range.most),
          .fallback = fmt::format("{}", fallback),
          .help = std::move(help),
          .choices = {},
          .read = reader<double>(field, parse),
          .show = [field](const Config& config) { return fmt::format("{}", field(config) + 0.0); }};
}

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

Key text_list(std::string name, const Field<std::vector<std::string>>& field, std::string help) {
  const auto parse = [](const Value& value) -> Result<std::vector<std::string>> {
    if (const auto* items = std::get_if<Value::TextList>(&value.data)) return *items;
    return wrong_kind(value);
  };
  return {.name = std::move(name),
          .type = "list of text",
          .allowed = "a list of text like [\"eth0\", \"eth1\"]",
          .fallback = "[]",
          .help = std::move(help),
          .choices = {},
          .read = reader<std::vector<std::string>>(field, parse),
          .show = [field](const Config& config) { return list_text(field(config)); }};
}

Key choice(std::string name, std::vector<std::string> words, const std::string& fallback,
           std::function<void(Config&, std::size_t)> set, std::function<std::size_t(const Config&)> get,
           std::string help) {
  const auto read = [words, set = std::move(set)](const Value& value, Config& config) -> Status {
    const auto* word = std::get_if<std::string>(&value.data);
    if (word == nullptr) return wrong_kind(value);
    const auto found = std::find(words.begin(), words.end(), *word);
    if (found == words.end()) {
      Error error(ErrorCode::kUsage, "is not known");
      if (const auto meant = nearest(lower_case(*word), words)) {
        error = error.with_remedy(fmt::format("Did you mean \"{}\"?", *meant));
      }
      return error;
    }
    set(config, static_cast<std::size_t>(found - words.begin()));
    return {};
  };
  return {.name = std::move(name),
          .type = "choice",
          .allowed = fmt::format("one of {}", fmt::join(words, ", ")),
          .fallback = quoted(fallback),
          .help = std::move(help),
          .choices = words,
          .read = read,
          .show = [words, get = std::move(get)](const Config& config) { return quoted(words[get(config)]); }};
}

}  // namespace cohort::config
