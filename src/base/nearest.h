#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cohort {

/// How many single-letter insertions, deletions, changes and swaps of neighbours turn one word into the
/// other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word somebody probably meant, or nothing if none is close (more than a third of the letters
/// differ).
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

}  // namespace cohort
