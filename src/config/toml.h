#pragma once

// toml++ with its assertions turned into exceptions. It asserts on some malformed texts, such as "[[x" or
// "[=", and a user's mistake must not end the process.

namespace cohort::config {

/// The parser's assertion failed: the text is broken, the place unknown.
struct BrokenToml {};

constexpr void parser_requires(bool condition) {
  if (!condition) throw BrokenToml{};
}

}  // namespace cohort::config

#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(condition) ::cohort::config::parser_requires(static_cast<bool>(condition))
#include <toml++/toml.h>
