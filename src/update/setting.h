#pragma once

#include "base/result.h"

#include <span>
#include <string_view>

namespace cohort::update {

enum class Least { kZero, kMoreThanZero };

/// kUsage, naming update.<key>, unless the value is finite and at least what it must be.
Status check_setting(std::string_view key, double value, Least least);
/// The same for a value that must also be less than 1.
Status check_share(std::string_view key, double value);

/// Which of the names update.<key> is; kUsage with the name that was probably meant.
Result<std::size_t> chosen(std::string_view key, std::string_view value,
                           std::span<const std::string_view> names);

}  // namespace cohort::update
