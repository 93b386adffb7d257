#include "config/document.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <sstream>

// toml++ with exceptions instead of assertions. It asserts on some malformed texts, such as "[[x" or "[=",
// and a mistake in a job file must not abort the process.

namespace cohort::config {

/// An assertion of the parser failed: the text is malformed at an unknown position.
struct BrokenToml {};

constexpr void parser_requires(bool condition) {
  if (!condition) throw BrokenToml{};
}

}  // namespace cohort::config

#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(condition) ::cohort::config::parser_requires(static_cast<bool>(condition))
#include <toml++/toml.h>

namespace cohort::config {
namespace {

struct Leaf {
  Entry entry;
  toml::source_position position;
};

// As the user wrote the value: the shortest digits of a number, where toml++ prints 0.9 with 17.
std::string written_form(const toml::node& node) {
  if (const auto* number = node.as_floating_point()) {
    const std::string text = fmt::format("{}", number->get());
    return text.find_first_of(".eni") == std::string::npos ? text + ".0" : text;
  }
  if (const toml::array* array = node.as_array(); array != nullptr && !array->empty()) {
    std::vector<std::string> items;
    for (const toml::node& item : *array) items.push_back(written_form(item));
    return fmt::format("[ {} ]", fmt::join(items, ", "));
  }
  std::ostringstream out;
  const auto flags = toml::toml_formatter::default_flags & ~toml::format_flags::allow_literal_strings;
  out << toml::toml_formatter(toml::table{{"v", node}}, flags);
  std::string text = out.str();
  if (text.rfind("v = ", 0) == 0) text.erase(0, 4);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string describe(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  if (node.is_date() || node.is_time() || node.is_date_time()) return "a date or time";
  return "an unknown type";
}

template <class Item>
std::optional<std::vector<Item>> items_of(const toml::array& array) {
  std::vector<Item> items;
  for (const toml::node& node : array) {
    const auto* item = node.as<Item>();
    if (item == nullptr) return std::nullopt;
    items.push_back(item->get());
  }
  return items;
}

std::optional<Value::RealList> numbers_of(const toml::array& array) {
  Value::RealList numbers;
  for (const toml::node& node : array) {
    const auto number = node.is_number() ? node.value<double>() : std::nullopt;
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

Value list_value(const toml::array& array) {
  const std::string written = written_form(array);
  if (auto texts = items_of<std::string>(array)) return {std::move(*texts), written};
  if (auto numbers = items_of<std::int64_t>(array)) return {std::move(*numbers), written};
  if (auto numbers = numbers_of(array)) return {std::move(*numbers), written};
  return {Value::Other{"a list that is neither all text nor all numbers"}, written};
}

Value value_of(const toml::node& node) {
  const std::string written = written_form(node);
  if (const auto* flag = node.as_boolean()) return {flag->get(), written};
  if (const auto* whole = node.as_integer()) return {whole->get(), written};
  if (const auto* real = node.as_floating_point()) return {real->get(), written};
  if (const auto* text = node.as_string()) return {text->get(), written};
  if (const auto* array = node.as_array()) return list_value(*array);
  return {Value::Other{describe(node)}, written};
}

void collect(const toml::table& table, const std::string& prefix, const std::string& file,
             std::vector<Leaf>& leaves) {
  for (const auto& [key, node] : table) {
    const std::string name =
        prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    if (const auto* inner = node.as_table(); inner != nullptr && !inner->empty()) {
      collect(*inner, name, file, leaves);
    } else {
      const toml::source_position at = key.source().begin;
      leaves.push_back({{name, value_of(node), fmt::format("{}:{}", file, at.line)}, at});
    }
  }
}

Error not_toml(const std::string& file, std::size_t line, const std::string& reason) {
  return Error(ErrorCode::kUsage, fmt::format("{}:{}: this is not valid TOML: {}", file, line, reason))
      .with_remedy("Sections look like [launch], values like ranks = 2 or level = \"info\".");
}

constexpr int kMostParts = 64;

// The line of a name like a.a.a.a… with more than kMostParts parts. The parser is recursive and would
// overflow its stack.
std::optional<std::size_t> line_of_endless_name(std::string_view text) {
  constexpr std::string_view kInsideNames =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-\"' \t";
  std::size_t line = 1;
  int parts = 0;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (c == '.') {
      if (++parts > kMostParts) return line;
    } else if (kInsideNames.find(c) == std::string_view::npos) {
      parts = 0;
    }
  }
  return std::nullopt;
}

Result<toml::table> parse_table(std::string_view text, const std::string& file) {
  if (const auto line = line_of_endless_name(text)) {
    return not_toml(file, *line, fmt::format("a name has more than {} parts", kMostParts));
  }
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& failure) {
    const toml::source_position at = failure.source().begin;
    return not_toml(file, at.line, fmt::format("{} (column {})", failure.description(), at.column));
  } catch (const BrokenToml&) {
    // The exception has no position. The error is in the first line that makes the parser throw.
    std::size_t line = 1;
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1), ++line) {
      try {
        (void)toml::parse(text.substr(0, end), file);
      } catch (const toml::parse_error&) {  // cut inside a value of several lines
      } catch (const BrokenToml&) {
        break;
      }
    }
    return not_toml(file, line, "a name is missing or begins with a character that is not allowed in names");
  }
}

}  // namespace

Result<std::vector<Entry>> parse_document(std::string_view text, const std::string& file_name) {
  COHORT_ASSIGN_OR_RETURN(const toml::table table, parse_table(text, file_name));
  std::vector<Leaf> leaves;
  collect(table, "", file_name, leaves);
  std::stable_sort(leaves.begin(), leaves.end(),
                   [](const Leaf& a, const Leaf& b) { return a.position < b.position; });
  std::vector<Entry> entries;
  for (Leaf& leaf : leaves) entries.push_back(std::move(leaf.entry));
  return entries;
}

Result<Entry> parse_override(const std::string& assignment) {
  const std::string location = "--set " + assignment;
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error(ErrorCode::kUsage, location + ": expected KEY=VALUE")
        .with_remedy("Write --set launch.ranks=4.");
  }
  const std::string key = assignment.substr(0, equals);
  const std::string text = assignment.substr(equals + 1);
  const Result<toml::table> parsed = parse_table("v = " + text, location);
  if (parsed && parsed->size() == 1 && parsed->get("v")->is_table()) {
    return Error(ErrorCode::kUsage, location + ": a section cannot be set as a whole")
        .with_remedy("Set one key at a time: --set launch.ranks=4.");
  }
  if (parsed && parsed->size() == 1) return Entry{key, value_of(*parsed->get("v")), location};
  return Entry{key, Value{text, fmt::format("\"{}\"", text)}, location};
}

}  // namespace cohort::config
