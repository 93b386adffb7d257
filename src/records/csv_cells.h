#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cohort::records {

/// The text of a cell without blanks around it.
std::string_view trimmed(std::string_view cell);

/// The number in a cell, if it is finite as a float.
std::optional<float> number_in(std::string_view cell);

/// A cell in an error message: short, without control characters.
std::string shown(std::string_view cell);

}  // namespace cohort::records
