#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cohort {

/// The edit distance of two words: insertions, deletions and substitutions of a letter and swaps of adjacent
/// letters count one each.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word closest to a misspelt one, or nothing if every known word differs in more than a third of
/// the letters. Used for "did you mean" in error messages.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

}  // namespace cohort
