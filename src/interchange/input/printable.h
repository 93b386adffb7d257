#pragma once

#include <string>
#include <string_view>

namespace cohort::interchange {

/// A text from a file as it may stand in an error message: control characters are written `\x0a`, and what
/// follows the first 80 bytes is left out.
std::string printable(std::string_view text);

}  // namespace cohort::interchange
