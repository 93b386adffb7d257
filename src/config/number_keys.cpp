#include "config/key_reading.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::config {

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

Key optional_flag(std::string name, const Field<std::optional<bool>>& field, std::string help) {
  const auto parse = [](const Value& value) -> Result<std::optional<bool>> {
    if (const auto* set = std::get_if<bool>(&value.data)) return std::optional(*set);
    return wrong_kind(value);
  };
  return {.name = std::move(name),
          .type = "flag",
          .allowed = "true or false",
          .fallback = "",
          .help = std::move(help),
          .choices = {},
          .read = reader<std::optional<bool>>(field, parse),
          .show =
              [field](const Config& config) {
                const std::optional<bool> set = field(config);
                return !set ? std::string() : *set ? "true" : "false";
              },
          .example = "true"};
}

namespace {

template <class Number>
std::string number_text(Number number) {
  return std::to_string(number);
}
template <class Number>
std::string number_text(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "";
}

template <class Member>
struct PlainNumber {
  using Type = Member;
};
template <class Number>
struct PlainNumber<std::optional<Number>> {
  using Type = Number;
};

template <class Limit>
Result<std::int64_t> read_integer(const Value& value, Range<Limit> range) {
  const auto* number = std::get_if<std::int64_t>(&value.data);
  if (number == nullptr) return wrong_kind(value);
  if (*number < range.least || *number > range.most) return out_of_range();
  return *number;
}

// A key for whole numbers, without a default.
template <class Member, class Limit>
Key integer_key(const std::string& name, const Field<Member>& field, Range<Limit> range,
                const std::string& help) {
  using Plain = typename PlainNumber<Member>::Type;
  const auto parse = [range](const Value& value) -> Result<Member> {
    COHORT_ASSIGN_OR_RETURN(const std::int64_t number, read_integer(value, range));
    return Member(static_cast<Plain>(number));
  };
  return {.name = name,
          .type = "whole number",
          .allowed = fmt::format("a whole number from {} to {}", range.least, range.most),
          .fallback = "",
          .help = help,
          .choices = {},
          .read = reader<Member>(field, parse),
          .show = [field](const Config& config) { return number_text(field(config)); }};
}

}  // namespace

Key whole_number(const std::string& name, const Field<int>& field, int fallback, Range<int> range,
                 const std::string& help) {
  Key key = integer_key(name, field, range, help);
  key.fallback = number_text(fallback);
  return key;
}

Key optional_whole_number(const std::string& name, const Field<std::optional<int>>& field, Range<int> range,
                          const std::string& help) {
  Key key = integer_key(name, field, range, help);
  key.example = "4";
  return key;
}

Key whole_number_or_auto(const std::string& name, const Field<std::optional<int>>& field, Range<int> range,
                         const std::string& help) {
  const auto parse = [range](const Value& value) -> Result<std::optional<int>> {
    if (is_auto(value)) return std::optional<int>();
    COHORT_ASSIGN_OR_RETURN(const std::int64_t number, read_integer(value, range));
    return std::optional(static_cast<int>(number));
  };
  const std::string chosen = quoted(std::string(kAuto));
  Key key = integer_key(name, field, range, help);
  key.allowed = fmt::format("{}, or {}", chosen, key.allowed);
  key.fallback = chosen;
  key.read = reader<std::optional<int>>(field, parse);
  key.show = [field, chosen](const Config& config) {
    const std::optional<int> value = field(config);
    return value ? std::to_string(*value) : chosen;
  };
  return key;
}

Key large_whole_number(const std::string& name, const Field<std::uint64_t>& field, std::uint64_t fallback,
                       Range<std::int64_t> range, const std::string& help) {
  Key key = integer_key(name, field, range, help);
  key.fallback = number_text(fallback);
  return key;
}

Key whole_number_list(std::string name, const Field<std::vector<int>>& field,
                      const std::vector<int>& fallback, Range<int> range, std::string help) {
  const auto parse = [range](const Value& value) -> Result<std::vector<int>> {
    const auto* texts = std::get_if<Value::TextList>(&value.data);
    if (texts != nullptr && texts->empty()) return std::vector<int>();
    const auto* numbers = std::get_if<Value::WholeList>(&value.data);
    if (numbers == nullptr) return wrong_kind(value);
    std::vector<int> items;
    for (const std::int64_t number : *numbers) {
      if (number < range.least || number > range.most) return out_of_range();
      items.push_back(static_cast<int>(number));
    }
    return items;
  };
  return {
      .name = std::move(name),
      .type = "list of whole numbers",
      .allowed = fmt::format("a list of whole numbers from {} to {} like [128, 64]", range.least, range.most),
      .fallback = fmt::format("[{}]", fmt::join(fallback, ", ")),
      .help = std::move(help),
      .choices = {},
      .read = reader<std::vector<int>>(field, parse),
      .show = [field](const Config& config) { return fmt::format("[{}]", fmt::join(field(config), ", ")); }};
}

namespace {

// Nothing for a value that is no list of numbers.
std::optional<Value::RealList> numbers_in(const Value& value) {
  if (const auto* reals = std::get_if<Value::RealList>(&value.data)) return *reals;
  const auto* whole = std::get_if<Value::WholeList>(&value.data);
  if (whole == nullptr) return std::nullopt;
  return Value::RealList(whole->begin(), whole->end());
}

using Pair = std::pair<double, double>;

Result<Pair> read_pair(const Value& value, Range<double> range) {
  const Value::RealList numbers = numbers_in(value).value_or(Value::RealList());
  if (numbers.empty()) return wrong_kind(value);
  if (numbers.size() != 2) {
    return Error(ErrorCode::kUsage, fmt::format("has {} numbers, expected 2", numbers.size()));
  }
  if (!is_inside(numbers[0], range) || !is_inside(numbers[1], range)) return out_of_range();
  return Pair(numbers[0], numbers[1]);
}

std::string text_of(const Pair& pair) {
  return fmt::format("[{}, {}]", pair.first, pair.second);
}

}  // namespace

Key number_list(std::string name, const Field<std::vector<double>>& field, Range<double> range,
                const std::string& example, std::string help) {
  const auto parse = [range](const Value& value) -> Result<std::vector<double>> {
    const auto* texts = std::get_if<Value::TextList>(&value.data);
    if (texts != nullptr && texts->empty()) return std::vector<double>();
    const std::optional<Value::RealList> numbers = numbers_in(value);
    if (!numbers) return wrong_kind(value);
    for (const double number : *numbers) {
      if (!is_inside(number, range)) return out_of_range();
    }
    return std::vector<double>(numbers->begin(), numbers->end());
  };
  return {
      .name = std::move(name),
      .type = "list of numbers",
      .allowed = fmt::format("a list of numbers from {} to {} like {}", range.least, range.most, example),
      .fallback = "[]",
      .help = std::move(help),
      .choices = {},
      .read = reader<std::vector<double>>(field, parse),
      .show = [field](const Config& config) { return fmt::format("[{}]", fmt::join(field(config), ", ")); },
      .example = example};
}

Key number_pair(std::string name, const Field<Pair>& field, Pair fallback, Range<double> range,
                std::string help) {
  return {
      .name = std::move(name),
      .type = "two numbers",
      .allowed = fmt::format("two numbers from {} to {} like {}", range.least, range.most, text_of(fallback)),
      .fallback = text_of(fallback),
      .help = std::move(help),
      .choices = {},
      .read = reader<Pair>(field, [range](const Value& value) { return read_pair(value, range); }),
      .show = [field](const Config& config) { return text_of(field(config)); }};
}

Key optional_number_pair(std::string name, const Field<std::optional<Pair>>& field, Range<double> range,
                         const std::string& example, std::string help) {
  const auto parse = [range](const Value& value) -> Result<std::optional<Pair>> {
    COHORT_ASSIGN_OR_RETURN(const Pair pair, read_pair(value, range));
    return std::optional(pair);
  };
  return {.name = std::move(name),
          .type = "two numbers",
          .allowed = fmt::format("two numbers from {} to {} like {}", range.least, range.most, example),
          .fallback = "",
          .help = std::move(help),
          .choices = {},
          .read = reader<std::optional<Pair>>(field, parse),
          .show =
              [field](const Config& config) {
                const std::optional<Pair> pair = field(config);
                return pair ? text_of(*pair) : std::string();
              },
          .example = example};
}

namespace {

Result<double> read_real(const Value& value, Range<double> range) {
  double number = std::nan("");
  if (const auto* real = std::get_if<double>(&value.data)) {
    number = *real;
  } else if (const auto* whole = std::get_if<std::int64_t>(&value.data)) {
    number = static_cast<double>(*whole);
  } else {
    return wrong_kind(value);
  }
  if (!is_inside(number, range)) return out_of_range();  // false for a NaN
  return number;
}

}  // namespace

Key real_number(std::string name, const Field<double>& field, double fallback, Range<double> range,
                std::string help) {
  return {.name = std::move(name),
          .type = "number",
          .allowed = fmt::format("a number from {} to {}", range.least, range.most),
          .fallback = fmt::format("{}", fallback),
          .help = std::move(help),
          .choices = {},
          .read = reader<double>(field, [range](const Value& value) { return read_real(value, range); }),
          .show = [field](const Config& config) { return fmt::format("{}", field(config) + 0.0); }};
}

Key optional_real_number(std::string name, const Field<std::optional<double>>& field, Range<double> range,
                         const std::string& example, std::string help) {
  const auto parse = [range](const Value& value) -> Result<std::optional<double>> {
    COHORT_ASSIGN_OR_RETURN(const double number, read_real(value, range));
    return std::optional(number);
  };
  return {.name = std::move(name),
          .type = "number",
          .allowed = fmt::format("a number from {} to {}", range.least, range.most),
          .fallback = "",
          .help = std::move(help),
          .choices = {},
          .read = reader<std::optional<double>>(field, parse),
          .show =
              [field](const Config& config) {
                const std::optional<double> value = field(config);
                return value ? fmt::format("{}", *value + 0.0) : std::string();
              },
          .example = example};
}

}  // namespace cohort::config
