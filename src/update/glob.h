#pragma once

#include <string_view>

namespace cohort::update {

/// Whether the pattern describes the whole name: `*` stands for any letters, none included, `?` for any one.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace cohort::update
