#pragma once

#include <string>
#include <string_view>

namespace cohort::observe {

enum class Colour { kNone, kGreen, kYellow, kRed, kBold, kFaint };
enum class Colours { kHidden, kShown };

/// What text for people is laid out for.
struct Screen {
  Colours colours = Colours::kHidden;
  int columns = 100;

  /// The text in a colour, or as it is where colours are hidden.
  std::string coloured(std::string_view text, Colour colour) const;
};

}  // namespace cohort::observe
