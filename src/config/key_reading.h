#pragma once

#include "config/key.h"

#include <string>
#include <string_view>

namespace cohort::config {

// What the kinds of keys share when they read a value.

/// `a whole number`, `text`, …: how messages call what somebody wrote.
std::string_view kind_of(const Value& value);
Error wrong_kind(const Value& value);
Error out_of_range();

template <class T>
bool is_inside(const T& value, const Range<T>& range) {
  return value >= range.least && value <= range.most;
}

/// The whole number in a value, if it is one and inside.
Result<int> read_whole(const Value& value, Range<int> range);

/// The reader of a key: parses a value and puts it into the field.
template <class T>
std::function<Status(const Value&, Config&)> reader(Field<T> field,
                                                    std::function<Result<T>(const Value&)> parse) {
  return [field = std::move(field), parse = std::move(parse)](const Value& value, Config& config) -> Status {
    COHORT_ASSIGN_OR_RETURN(field(config), parse(value));
    return {};
  };
}

/// A basic string of TOML.
std::string quoted(const std::string& text);

}  // namespace cohort::config
