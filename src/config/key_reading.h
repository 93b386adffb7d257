#pragma once

#include "config/key.h"

#include <string>
#include <string_view>

namespace cohort::config {

// Functions that the types of keys share to read values.

/// The Key::type of input_path().
inline constexpr std::string_view kPathType = "path";

/// The type of a value, for messages: `a whole number`, `text`, …
std::string_view kind_of(const Value& value);
Error wrong_kind(const Value& value);
Error out_of_range();

template <class T>
bool is_inside(const T& value, const Range<T>& range) {
  return value >= range.least && value <= range.most;
}

/// A Key::read that parses a value and stores it in the field.
template <class T>
std::function<Status(const Value&, Config&)> reader(Field<T> field,
                                                    std::function<Result<T>(const Value&)> parse) {
  return [field = std::move(field), parse = std::move(parse)](const Value& value, Config& config) -> Status {
    COHORT_ASSIGN_OR_RETURN(field(config), parse(value));
    return {};
  };
}

/// The word for a value that Cohort chooses.
inline constexpr std::string_view kAuto = "auto";
bool is_auto(const Value& value);

/// The text as a basic string of TOML.
std::string quoted(const std::string& text);

}  // namespace cohort::config
